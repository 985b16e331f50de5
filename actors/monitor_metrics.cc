// SPDX-License-Identifier: Apache-2.0
#include "actors/monitor_metrics.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace hourglass {
namespace {
/// Reports come from the network: no sum of theirs may become infinite.
constexpr double kValueMax = 1e18;
/// Two reports nearer than this give no useful rate.
constexpr double kRateSecondsMin = 0.2;

double bounded(double value) { return std::clamp(value, 0.0, kValueMax); }

std::optional<Traffic> traffic_from_name(std::string_view name) {
  for (std::uint8_t i = 0; i < kTraffics; ++i) {
    if (name_of(static_cast<Traffic>(i)) == name) return static_cast<Traffic>(i);
  }
  return std::nullopt;
}

/// Takes apart "sent.<traffic>.payload" and "sent.<traffic>.socket".
double* sent_slot(SentBytes& sent, std::string_view name) {
  constexpr std::string_view kPrefix = "sent.", kPayload = ".payload", kSocket = ".socket";
  if (!name.starts_with(kPrefix)) return nullptr;
  name.remove_prefix(kPrefix.size());
  const bool payload = name.ends_with(kPayload);
  if (!payload && !name.ends_with(kSocket)) return nullptr;
  name.remove_suffix(payload ? kPayload.size() : kSocket.size());
  const auto traffic = traffic_from_name(name);
  if (!traffic) return nullptr;
  return &(payload ? sent.payload : sent.socket)[static_cast<std::size_t>(*traffic)];
}

void read_values(ActorMetrics& metrics, const std::vector<MetricValue>& values) {
  for (const MetricValue& value : values) {
    if (double* slot = sent_slot(metrics.sent, value.name))
      *slot = bounded(value.value);
    else if (value.name == "samples")
      metrics.samples = bounded(value.value);
    else if (value.name == "cpu_seconds")
      metrics.cpu_seconds = bounded(value.value);
    else if (value.name == "rss_bytes")
      metrics.memory_bytes = bounded(value.value);
  }
}

/// A counter that fell has been reset; what it grew by since is not known.
double rate(double before, double after, double elapsed) { return before < 0 || after < before ? 0.0 : (after - before) / elapsed; }

void compute_rates(ActorMetrics& now, const ActorMetrics& before) {
  const double elapsed = now.uptime_seconds - before.uptime_seconds;
  if (elapsed < kRateSecondsMin) {
    now.has_rates = before.has_rates;
    now.sent_per_second = before.sent_per_second;
    now.samples_per_second = before.samples_per_second;
    now.cpu_ratio = before.cpu_ratio;
    return;
  }
  for (std::size_t i = 0; i < kTraffics; ++i) {
    now.sent_per_second.payload[i] = rate(before.sent.payload[i], now.sent.payload[i], elapsed);
    now.sent_per_second.socket[i] = rate(before.sent.socket[i], now.sent.socket[i], elapsed);
  }
  now.samples_per_second = rate(before.samples, now.samples, elapsed);
  now.cpu_ratio = rate(before.cpu_seconds, now.cpu_seconds, elapsed);
  now.has_rates = true;
}
}  // namespace

void SentBytes::add(const SentBytes& other) {
  for (std::size_t i = 0; i < kTraffics; ++i) {
    payload[i] += other.payload[i];
    socket[i] += other.socket[i];
  }
}

void MetricBook::report(ActorId from, const MetricReport& report, Instant now) {
  const auto known = actors_.find(from);
  if (known != actors_.end() && report.sequence <= known->second.sequence) return;
  if (known == actors_.end()) {
    if (actors_.size() >= kActorsMax) retire_most_silent();
    if (retired_.erase(from) != 0) std::erase(retired_order_, from);  // it is back
  }
  ActorMetrics next;
  if (known != actors_.end()) next.sent = known->second.sent;  // kinds that a shortened report leaves out keep their totals
  const auto kept = static_cast<std::ptrdiff_t>(std::min(report.values.size(), kValuesMax));
  next.newest = std::make_shared<const std::vector<MetricValue>>(report.values.begin(), report.values.begin() + kept);
  next.sequence = report.sequence;
  next.uptime_seconds = bounded(report.uptime_seconds);
  next.heard = now;
  next.last = report.last;
  read_values(next, report.values);
  if (known != actors_.end()) compute_rates(next, known->second);
  actors_[from] = std::move(next);
}

void MetricBook::retire(const std::function<bool(ActorId, const ActorMetrics&)>& forget) {
  std::vector<ActorId> leaving;
  for (const auto& [id, metrics] : actors_) {
    if (forget(id, metrics)) leaving.push_back(id);
  }
  for (const ActorId id : leaving) retire_one(id);
}

void MetricBook::retire_one(ActorId id) {
  const auto found = actors_.find(id);
  retired_[id] = found->second.sent;
  retired_order_.push_back(id);
  actors_.erase(found);
  if (retired_order_.size() <= kRetiredMax) return;
  forgotten_.add(retired_[retired_order_.front()]);
  retired_.erase(retired_order_.front());
  retired_order_.pop_front();
}

void MetricBook::retire_most_silent() {
  const auto oldest =
      std::min_element(actors_.begin(), actors_.end(), [](const auto& a, const auto& b) { return a.second.heard < b.second.heard; });
  retire_one(oldest->first);
}

const ActorMetrics* MetricBook::find(ActorId id) const {
  const auto found = actors_.find(id);
  return found == actors_.end() ? nullptr : &found->second;
}

bool MetricBook::fresh(const ActorMetrics& metrics, Instant now) {
  return metrics.has_rates && !metrics.last && seconds(now - metrics.heard) <= kFreshSeconds;
}

SentBytes MetricBook::totals() const {
  SentBytes sum = forgotten_;
  for (const auto& [id, sent] : retired_) sum.add(sent);
  for (const auto& [id, metrics] : actors_) sum.add(metrics.sent);
  return sum;
}

SentBytes MetricBook::rates(Instant now) const {
  SentBytes sum;
  for (const auto& [id, metrics] : actors_) {
    if (fresh(metrics, now)) sum.add(metrics.sent_per_second);
  }
  return sum;
}

}  // namespace hourglass
