// SPDX-License-Identifier: Apache-2.0
// The conv group's clocks as an onlooker reckons them: from rosters and verdicts alone, with none of the aggregator's code.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

#include "messages/roster.h"

namespace hourglass::checks {

class Paces {
 public:
  /// Each member of `role` is a racer: one that joins, or wakes, starts at the slowest active one's pace.
  explicit Paces(Role role) : role_(role) {}

  void follow(const Roster& roster) {
    if (roster.generation == generation_ && roster.revision <= revision_) return;
    if (roster.generation != generation_) racers_.clear();
    generation_ = roster.generation;
    revision_ = roster.revision;
    std::erase_if(racers_, [&](const auto& row) {
      return std::none_of(roster.members.begin(), roster.members.end(), [&](const Member& m) { return m.id == row.first; });
    });
    for (const Member& member : roster.members) {
      if (member.id.role != role_) continue;
      const std::uint64_t slowest = this->slowest();
      const auto [row, fresh] = racers_.try_emplace(member.id, Racer{slowest, true});
      if (!fresh && member.active && !row->second.active) row->second.pace = std::max(row->second.pace, slowest);
      row->second.active = fresh || member.active;  // it joins as an active one
      note();
      row->second.active = member.active;
    }
    note();
  }
  /// It begins afresh: the next roster that has it is its joining.
  void forget(ActorId id) { racers_.erase(id); }
  void advance(ActorId id) {
    if (const auto row = racers_.find(id); row != racers_.end()) ++row->second.pace;
  }

  [[nodiscard]] std::optional<std::uint64_t> pace(ActorId id) const {
    const auto row = racers_.find(id);
    return row == racers_.end() ? std::nullopt : std::optional(row->second.pace);
  }
  /// Of the active; of the fastest where nobody is.
  [[nodiscard]] std::uint64_t slowest() const {
    std::optional<std::uint64_t> least;
    std::uint64_t most = 0;
    for (const auto& [id, racer] : racers_) {
      most = std::max(most, racer.pace);
      if (racer.active) least = std::min(least.value_or(racer.pace), racer.pace);
    }
    return least.value_or(most);
  }
  /// Most that were ever active at once.
  [[nodiscard]] std::size_t active_max() const { return active_max_; }

 private:
  struct Racer {
    std::uint64_t pace = 0;
    bool active = true;
  };
  void note() {
    const auto active = std::count_if(racers_.begin(), racers_.end(), [](const auto& row) { return row.second.active; });
    active_max_ = std::max(active_max_, static_cast<std::size_t>(active));
  }

  Role role_;
  std::uint32_t generation_ = 0;
  std::uint64_t revision_ = 0;
  std::map<ActorId, Racer> racers_;
  std::size_t active_max_ = 0;
};

}  // namespace hourglass::checks
