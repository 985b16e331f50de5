// SPDX-License-Identifier: Apache-2.0
#include "services/dashboard/joins.h"

#include <algorithm>

namespace hourglass {

void Joins::look(const DashboardState& state) {
  if (state.status && state.status->run != run_) {
    run_ = state.status->run;
    joined_.clear();
    here_.clear();
  }
  if (state.closed || state.phase == Phase::finished) return;
  std::map<ActorId, bool> next;
  for (const ActorState& actor : state.actors) {
    const bool here = actor.presence != Presence::gone;
    next[actor.id] = here;
    const auto before = here_.find(actor.id);
    if (!here || (before != here_.end() && before->second)) continue;
    const Name name{actor.id.role, actor.name};
    if (joined_.size() < kNamesMax || joined_.contains(name)) ++joined_[name];
  }
  here_ = std::move(next);
}

std::map<ActorId, std::uint32_t> Joins::restarts(const DashboardState& state) const {
  std::map<Name, std::uint32_t> present;
  for (const ActorState& actor : state.actors) present[{actor.id.role, actor.name}] += actor.presence == Presence::gone ? 0 : 1;
  std::map<ActorId, std::uint32_t> out;
  for (const ActorState& actor : state.actors) {
    const Name name{actor.id.role, actor.name};
    const auto joined = joined_.find(name);
    const std::uint32_t first = std::max(1U, present[name]);
    if (joined != joined_.end() && joined->second > first) out[actor.id] = joined->second - first;
  }
  return out;
}

}  // namespace hourglass
