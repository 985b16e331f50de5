// SPDX-License-Identifier: Apache-2.0
// What the monitor knows, as one immutable value: the only thing that the dashboard ever reads.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "actors/command_post.h"
#include "actors/monitor_series.h"
#include "actors/monitor_spans.h"
#include "base/ids.h"
#include "messages/job.h"
#include "messages/message_type.h"
#include "messages/metric_report.h"
#include "messages/run_status.h"

namespace hourglass {

/// Stands for "not known"; shown as a gap, never as zero.
inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

enum class Presence : std::uint8_t { active, idle, gone };
constexpr std::string_view name_of(Presence presence) {
  return presence == Presence::active ? "active" : presence == Presence::idle ? "idle" : "gone";
}

/// One process of the run: what the aggregator says about it and what it reports itself.
struct ActorState {
  ActorId id;
  std::uint32_t number = 0;
  std::string name;                    ///< host or container; untrusted text
  std::string endpoint;                ///< untrusted text
  Presence presence = Presence::idle;  ///< only workers are ever idle
  std::uint64_t clock = 0;
  std::uint64_t version = 0;               ///< newest parameters that it was sent
  double last_seen_seconds = kUnknown;     ///< since its last heartbeat
  double progress_age_seconds = kUnknown;  ///< since its loop last turned, by its own heartbeat
  double report_age_seconds = kUnknown;    ///< since its last metric report
  double samples = kUnknown;               ///< cumulative, this process
  double samples_per_second = kUnknown;
  double sent_bytes_per_second = kUnknown;
  /// Socket bytes by kind of message; null where its rates are not known.
  std::shared_ptr<const std::array<double, kTraffics>> sent_by_kind;
  double cpu_ratio = kUnknown;  ///< 1 = one core fully used
  double memory_bytes = kUnknown;
  std::shared_ptr<const std::vector<MetricValue>> metrics;  ///< newest report; null before the first
};

/// One kind of message, over all processes of the run, those that have left included.
struct TrafficState {
  double payload_bytes = 0;  ///< message bodies, cumulative
  double socket_bytes = 0;   ///< with headers and framing, cumulative
  double payload_bytes_per_second = 0;
  double socket_bytes_per_second = 0;
};

struct DashboardState {
  std::uint64_t sequence = 0;  ///< rises by one with each state of this process
  double uptime_seconds = 0;   ///< of the monitor
  bool registered = false;     ///< the aggregator has welcomed this process
  std::string build;           ///< of the monitor
  bool closed = false;         ///< the monitor has left the run: this is its last state
  std::uint32_t generation = 0;
  Phase phase = Phase::waiting;             ///< by the newest word of the aggregator, which may be ahead of `status`
  std::shared_ptr<const Job> job;           ///< null before Welcome
  std::shared_ptr<const RunStatus> status;  ///< null before the first; newest of the aggregator
  double status_age_seconds = kUnknown;     ///< since it came
  double eta_seconds = kUnknown;            ///< until the training data is used up
  std::vector<ActorState> actors;           ///< ordered by role and number; members long gone are left out
  std::array<TrafficState, kTraffics> traffic{};
  double bytes_per_second = 0;                ///< socket bytes sent by all processes
  std::shared_ptr<const Series> series;       ///< never null
  std::shared_ptr<const SpanSnapshot> spans;  ///< the last minute, on the clock of `uptime_seconds`; null: nobody told any
  std::uint64_t reports_of_strangers = 0;     ///< from senders that are no members
  std::shared_ptr<const std::deque<CommandState>> commands = std::make_shared<const std::deque<CommandState>>();  ///< never null
};

}  // namespace hourglass
