// SPDX-License-Identifier: Apache-2.0
// Everybody's newest metrics, the rates between reports, and totals that never fall when a process leaves. Bounded whatever is reported.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "messages/message_type.h"
#include "messages/metric_report.h"

namespace hourglass {

/// Bytes sent by kind of message.
struct SentBytes {
  std::array<double, kTraffics> payload{}, socket{};
  void add(const SentBytes& other);
};

/// What one process has reported.
struct ActorMetrics {
  std::shared_ptr<const std::vector<MetricValue>> newest;
  std::uint64_t sequence = 0;
  double uptime_seconds = 0;
  Instant heard{};
  bool last = false;  ///< its last report has come
  SentBytes sent, sent_per_second;
  double samples = -1, cpu_seconds = -1, memory_bytes = -1;  ///< -1: not reported
  double samples_per_second = 0, cpu_ratio = 0;
  bool has_rates = false;  ///< after the second report
};

class MetricBook {
 public:
  static constexpr std::size_t kActorsMax = 1024;
  static constexpr std::size_t kValuesMax = 256;    ///< kept of one report
  static constexpr std::size_t kRetiredMax = 4096;  ///< processes that left and whose totals are known one by one
  static constexpr double kFreshSeconds = 3.5;      ///< rates older than this count as none

  /// Reports that are not newer than the one at hand are ignored.
  void report(ActorId from, const MetricReport& report, Instant now);
  /// Keeps the totals of those that `forget` names and drops the rest of them.
  void retire(const std::function<bool(ActorId, const ActorMetrics&)>& forget);

  [[nodiscard]] const std::map<ActorId, ActorMetrics>& actors() const { return actors_; }
  [[nodiscard]] const ActorMetrics* find(ActorId id) const;
  [[nodiscard]] static bool fresh(const ActorMetrics& metrics, Instant now);
  [[nodiscard]] SentBytes totals() const;
  [[nodiscard]] SentBytes rates(Instant now) const;

 private:
  void retire_one(ActorId id);
  void retire_most_silent();

  std::map<ActorId, ActorMetrics> actors_;
  std::map<ActorId, SentBytes> retired_;  ///< one of them may come back, and then must not count twice
  std::deque<ActorId> retired_order_;
  SentBytes forgotten_;  ///< what fell out of retired_
};

}  // namespace hourglass
