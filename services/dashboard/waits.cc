// SPDX-License-Identifier: Apache-2.0
#include "services/dashboard/waits.h"

#include <algorithm>
#include <limits>

namespace hourglass {
namespace {
bool steps(const ActorState& actor) { return actor.id.role == Role::conv_worker && actor.presence == Presence::active; }
bool silent(const ActorState& actor) { return actor.presence != Presence::gone && actor.last_seen_seconds > kSilentSeconds; }

double still_seconds(const DashboardState& state, const ClockMark& mark) { return state.uptime_seconds - mark.moved_at; }

bool stands_still(const DashboardState& state, const ClockMark& mark) {
  return still_seconds(state, mark) > std::max(kStillSeconds, kStepsMissed * mark.step_seconds);
}

/// A bound holds a worker up when it is so far ahead of the slowest; without a bound nobody is held up.
bool held_up(std::uint64_t clock, std::uint64_t slowest, std::int64_t bound) {
  return bound >= 0 && clock > slowest && clock - slowest >= static_cast<std::uint64_t>(bound);
}

void add(const DashboardState& state, Wait& wait, const ActorState& actor, bool with_clock) {
  wait.on.push_back(actor.id);
  wait.text += (wait.text.empty() ? "" : ", ") + display_name(state, actor.id);
  if (with_clock) wait.text += " at clock " + std::to_string(actor.clock);
}

/// Who keeps a worker from working where no bound does: with a cut, FC workers wait for the same worker before clocks can tell.
void add_silent(const DashboardState& state, Wait& wait) {
  for (const ActorState& other : state.actors) {
    if (other.id.role != Role::monitor && silent(other)) add(state, wait, other, steps(other));
  }
  if (wait.on.empty() && state.status_age_seconds > kSilentSeconds) {
    wait.on.push_back(kAggregator);
    wait.text = "the aggregator";
  }
}
}  // namespace

std::string display_name(const DashboardState& state, ActorId id) {
  static constexpr const char* kNames[kRoles] = {"data loader", "CONV worker", "FC worker", "aggregator", "monitor", "tree node"};
  const std::string name = kNames[static_cast<std::size_t>(id.role)];
  const bool worker = id.role == Role::conv_worker || id.role == Role::fc_worker || id.role == Role::tree_node;
  const auto peers = std::ranges::count_if(state.actors, [&](const ActorState& actor) { return actor.id.role == id.role; });
  const auto found = std::ranges::find(state.actors, id, &ActorState::id);
  if (found == state.actors.end() || (!worker && peers < 2)) return name;
  return name + " " + std::to_string(found->number);
}

std::map<ActorId, Wait> find_waits(const DashboardState& state, const std::map<ActorId, ClockMark>& marks) {
  std::map<ActorId, Wait> out;
  if (state.phase != Phase::training || !state.status || state.status->held) return out;
  std::uint64_t slowest = std::numeric_limits<std::uint64_t>::max();
  for (const ActorState& actor : state.actors) {
    if (steps(actor)) slowest = std::min(slowest, actor.clock);
  }
  for (const ActorState& actor : state.actors) {
    const auto mark = marks.find(actor.id);
    if (!steps(actor) || silent(actor) || mark == marks.end() || !stands_still(state, mark->second)) continue;
    Wait wait;
    wait.seconds = still_seconds(state, mark->second);
    if (held_up(actor.clock, slowest, state.status->staleness_bound)) {
      for (const ActorState& other : state.actors) {
        if (steps(other) && other.clock == slowest) add(state, wait, other, true);
      }
    } else {
      add_silent(state, wait);
    }
    out[actor.id] = std::move(wait);
  }
  return out;
}

}  // namespace hourglass
