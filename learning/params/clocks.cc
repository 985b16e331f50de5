// SPDX-License-Identifier: Apache-2.0
#include "learning/params/clocks.h"

#include <algorithm>

#include "base/check.h"
#include "base/mutant.h"

namespace hourglass::params {

void ClockTable::join(ActorId id, std::uint64_t pushed) {
  if (contains(id)) return;
  members_.emplace(id, Clock{pushed, mutant(Mutant::joiner_at_zero) ? 0 : slowest(), true});
  note_active();
}

bool ClockTable::set_active(ActorId id, bool active) {
  const auto found = members_.find(id);
  if (found == members_.end() || found->second.active == active) return false;
  if (active) found->second.pace = std::max(found->second.pace, slowest());
  found->second.active = active;
  note_active();
  return true;
}

void ClockTable::advance(ActorId id) {
  const auto found = members_.find(id);
  HG_CHECK(found != members_.end(), "only members advance");
  ++found->second.pushed;
  ++found->second.pace;
}

void ClockTable::skip(ActorId id, std::uint64_t pushed) {
  const auto found = members_.find(id);
  HG_CHECK(found != members_.end(), "only members skip");
  found->second.pushed = std::max(found->second.pushed, pushed);
}

void ClockTable::grant(ActorId id, std::uint64_t extra, std::uint64_t range) {
  const auto found = members_.find(id);
  HG_CHECK(found != members_.end(), "only members are granted");
  if (bound_.unlimited()) return;
  found->second.granted = std::min(found->second.pace + extra, slowest() + *bound_.slack + range + 1);
}

ActorId ClockTable::slowest_member() const {
  const std::uint64_t pace = slowest();
  for (const auto& [id, clock] : members_) {
    if (clock.active && clock.pace == pace) return id;
  }
  HG_CHECK(false, "somebody is active");
  return {};
}

bool ClockTable::fastest(ActorId id) const {
  return std::all_of(members_.begin(), members_.end(),
                     [mine = pace(id)](const auto& row) { return !row.second.active || row.second.pace <= mine; });
}

void ClockTable::level() {
  std::uint64_t fastest = 0;
  for (const auto& [id, clock] : members_) fastest = clock.active ? std::max(fastest, clock.pace) : fastest;
  for (auto& [id, clock] : members_) clock.pace = clock.active ? fastest : clock.pace;
}

bool ClockTable::active(ActorId id) const {
  const auto found = members_.find(id);
  return found != members_.end() && found->second.active;
}

std::uint64_t ClockTable::pushed(ActorId id) const {
  const auto found = members_.find(id);
  return found == members_.end() ? 0 : found->second.pushed;
}

std::uint64_t ClockTable::pace(ActorId id) const {
  const auto found = members_.find(id);
  return found == members_.end() ? 0 : found->second.pace;
}

std::uint64_t ClockTable::slowest() const {
  std::optional<std::uint64_t> slowest_active;
  std::uint64_t fastest = 0;
  for (const auto& [id, clock] : members_) {
    fastest = std::max(fastest, clock.pace);
    if (clock.active) slowest_active = std::min(slowest_active.value_or(clock.pace), clock.pace);
  }
  return slowest_active.value_or(fastest);
}

std::size_t ClockTable::active_count() const {
  return static_cast<std::size_t>(std::count_if(members_.begin(), members_.end(), [](const auto& row) { return row.second.active; }));
}

std::size_t ClockTable::sharing(ActorId id) const {
  const std::uint64_t round = pace(id);
  return static_cast<std::size_t>(std::count_if(
      members_.begin(), members_.end(), [&](const auto& row) { return row.first == id || row.second.active || row.second.pace > round; }));
}

std::optional<std::uint64_t> ClockTable::admitted(ActorId id) const {
  const auto found = members_.find(id);
  if (found == members_.end() || bound_.unlimited() || mutant(Mutant::staleness_ignored)) return std::nullopt;
  const Clock& clock = found->second;
  const std::uint64_t granted = clock.granted == 0 ? 0 : clock.granted - 1;
  const std::uint64_t last_pace = std::max({slowest() + *bound_.slack, granted, clock.pace == 0 ? 0 : clock.pace - 1});
  const std::uint64_t pace = clock.active ? clock.pace : std::max(clock.pace, slowest());  // where it will be when it wakes
  return clock.pushed + std::max(last_pace, pace == 0 ? 0 : pace - 1) - pace;              // its unit u runs at pace `pace + (u - pushed)`
}

bool ClockTable::admits_next(ActorId id) const {
  const auto found = members_.find(id);
  return found == members_.end() || bound_.admits(found->second.pace, slowest()) || found->second.pace < found->second.granted ||
         mutant(Mutant::staleness_ignored);
}

void ClockTable::note_active() { active_max_ = std::max(active_max_, active_count()); }

}  // namespace hourglass::params
