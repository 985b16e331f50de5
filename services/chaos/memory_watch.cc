// SPDX-License-Identifier: Apache-2.0
#include "services/chaos/memory_watch.h"

#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <sstream>

#include "services/hosting/text_file.h"

namespace hourglass::chaos {
namespace {

constexpr double kGrowthBytes = 16U << 20;
constexpr double kGrowthShare = 0.15;

double mean_of(std::span<const MemoryPoint> points) {
  const double sum =
      std::accumulate(points.begin(), points.end(), 0.0, [](double so_far, const MemoryPoint& p) { return so_far + p.bytes; });
  return points.empty() ? 0 : sum / static_cast<double>(points.size());
}

}  // namespace

std::optional<double> resident_bytes(pid_t process) {
  const auto text = read_text("/proc/" + std::to_string(process) + "/statm");
  if (!text) return std::nullopt;
  std::istringstream words(*text);
  double size = 0, resident = 0;
  if (!(words >> size >> resident) || resident <= 0) return std::nullopt;  // a process that has ended has none
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

double slope_of(const std::vector<MemoryPoint>& points) {
  if (points.size() < 2) return 0;
  double at = 0;
  for (const MemoryPoint& point : points) at += point.seconds;
  at /= static_cast<double>(points.size());
  const double bytes = mean_of(points);
  double over = 0, under = 0;
  for (const MemoryPoint& point : points) {
    over += (point.seconds - at) * (point.bytes - bytes);
    under += (point.seconds - at) * (point.seconds - at);
  }
  return under > 0 ? over / under : 0;
}

bool MemoryRow::grows() const { return judged() && growth() > std::max(kGrowthBytes, kGrowthShare * first_bytes); }

void MemoryWatch::sample(const std::string& name, pid_t process, double now) {
  if (const auto bytes = resident_bytes(process)) add(name, process, now, *bytes);
}

void MemoryWatch::add(const std::string& name, pid_t process, double now, double bytes) {
  const auto [row, fresh] = lives_.try_emplace({name, process});
  Life& life = row->second;
  if (fresh) life.began = now;
  if (now - life.began >= kWarmUpSeconds) life.points.push_back({now - life.began, bytes});
}

std::vector<MemoryRow> MemoryWatch::rows() const {
  std::vector<MemoryRow> out;
  for (const auto& [key, life] : lives_) {
    if (life.points.empty()) continue;
    const double half = life.points.back().seconds / 2;
    std::vector<MemoryPoint> points;
    for (const MemoryPoint& point : life.points) {
      if (point.seconds >= half) points.push_back(point);
    }
    const double seconds = points.back().seconds - points.front().seconds;
    if (seconds < kWatchedSecondsMin) continue;
    const std::size_t tenth = std::max<std::size_t>(1, points.size() / 10);
    const std::span<const MemoryPoint> all(points);
    MemoryRow row{key.first, key.second, seconds, mean_of(all.first(tenth)), mean_of(all.last(tenth)), 60 * slope_of(points)};
    if (!out.empty() && out.back().name == row.name) {
      if (out.back().seconds < row.seconds) out.back() = row;
    } else {
      out.push_back(row);
    }
  }
  return out;
}

}  // namespace hourglass::chaos
