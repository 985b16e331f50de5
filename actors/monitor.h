// SPDX-License-Identifier: Apache-2.0
// Watches the run: gathers the aggregator's status and everybody's metrics into one state, published once a second and at changes. Nobody
// waits for it. What people command goes through it to the aggregator. Whatever it is told is bounded here: members, metrics of one member,
// rows of history.
#pragma once

#include <memory>

#include "actors/command_post.h"
#include "actors/monitor_state.h"
#include "runtime/actor.h"
#include "runtime/process_identity.h"

namespace hourglass {

/// Where states go. Called from the actor's thread; must return at once.
class StateSink {
 public:
  virtual ~StateSink() = default;
  virtual void publish(std::shared_ptr<const DashboardState> state) = 0;
};

/// `sink` may be null: no dashboard, yet a full member of the run. `commands` may be null: nobody gives any. Both must outlive the actor.
///
/// Metrics that it understands: "sent.<traffic>.payload", "sent.<traffic>.socket" (cumulative bytes), "samples" (cumulative), "cpu_seconds"
/// (cumulative), "rss_bytes". Rates are differences over the sender's own uptime, so a late report makes no false peak.
std::unique_ptr<Actor> make_monitor(StateSink* sink, CommandSource* commands, ProcessIdentity identity);

}  // namespace hourglass
