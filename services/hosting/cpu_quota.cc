// SPDX-License-Identifier: Apache-2.0
#include "services/hosting/cpu_quota.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <thread>

namespace hourglass {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

double quota_v1(const std::string& folder) {
  std::istringstream quota_text(first_line(folder + "/cpu.cfs_quota_us"));
  std::istringstream period_text(first_line(folder + "/cpu.cfs_period_us"));
  double quota = 0;
  double period = 0;
  if (!(quota_text >> quota) || !(period_text >> period) || quota <= 0 || period <= 0) return 0;
  return quota / period;
}

/// The group of /proc/self/cgroup: "0::/a/b" for v2.
std::string own_group() {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, 3, "0::") == 0) return line.substr(3);
  }
  return "/";
}

}  // namespace

double quota_from_cpu_max(const std::string& text) {
  std::istringstream in(text);
  double quota = 0;
  double period = 0;
  if (!(in >> quota >> period) || quota <= 0 || period <= 0) return 0;
  return quota / period;
}

std::uint32_t usable_processors(const std::string& root, const std::string& group, std::uint32_t processors) {
  double least = std::max(1U, processors);
  std::string at = group == "/" ? "" : group;
  for (int depth = 0; depth < 64; ++depth) {
    const double quota = quota_from_cpu_max(first_line(root + at + "/cpu.max"));
    if (quota > 0) least = std::min(least, quota);
    const std::size_t slash = at.rfind('/');
    if (slash == std::string::npos) break;
    at.resize(slash);
  }
  for (const char* folder : {"/cpu", "/cpu,cpuacct"}) {
    const double quota = quota_v1(root + folder);
    if (quota > 0) least = std::min(least, quota);
  }
  return std::max(1U, static_cast<std::uint32_t>(std::ceil(least)));
}

std::uint32_t usable_processors() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  const int count =
      sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : static_cast<int>(std::thread::hardware_concurrency());
  return usable_processors("/sys/fs/cgroup", own_group(), static_cast<std::uint32_t>(std::max(1, count)));
}

}  // namespace hourglass
