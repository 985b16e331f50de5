// SPDX-License-Identifier: Apache-2.0
// Who waits for whom, from nothing but clocks, heartbeats and the staleness bound.
#pragma once

#include <map>

#include "actors/monitor_state.h"
#include "services/dashboard/findings.h"

namespace hourglass {

/// A worker whose clock has stood still for so long, and for longer than kStepsMissed of its usual steps, waits.
inline constexpr double kStillSeconds = 3;
inline constexpr double kStepsMissed = 4;
/// A process whose heartbeat is this old is silent. Heartbeats come each second, from a thread of their own.
inline constexpr double kSilentSeconds = 3;

/// What a Watch has seen of one process's clock.
struct ClockMark {
  std::uint64_t clock = 0;
  double moved_at = 0;      ///< uptime of the monitor when it last rose
  double step_seconds = 0;  ///< exponential mean of the time between two rises; 0: not known
};

/// Of a run in training. Where a bound holds workers up they wait for the slowest; where all stand at the same clock they wait for a
/// process that is silent: another worker, the data loader, the aggregator.
std::map<ActorId, Wait> find_waits(const DashboardState& state, const std::map<ActorId, ClockMark>& marks);

/// "CONV worker 2", with its number as the aggregator gave it; of those that are alone in their role, without.
std::string display_name(const DashboardState& state, ActorId id);

}  // namespace hourglass
