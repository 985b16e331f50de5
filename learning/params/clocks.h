// SPDX-License-Identifier: Apache-2.0
// Stale synchronous parallel clocks (Ho et al., NIPS 2013) for members that come, go and pause.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "base/ids.h"

namespace hourglass::params {

/// How far the fastest may run ahead of the slowest, in clocks. 0: bulk synchronous; unlimited: asynchronous.
struct StalenessBound {
  std::optional<std::uint64_t> slack;  ///< empty: unlimited
  [[nodiscard]] bool unlimited() const { return !slack.has_value(); }
  [[nodiscard]] bool admits(std::uint64_t clock, std::uint64_t slowest) const { return !slack || clock <= slowest + *slack; }
  /// Most versions that others can apply between the read and the apply of one unit of work, with `workers` workers: (2s+1)(P-1). Each
  /// other worker can finish units c-s .. c+s while unit c runs.
  [[nodiscard]] std::optional<std::uint64_t> versions(std::size_t workers) const {
    if (!slack) return std::nullopt;
    return (2 * *slack + 1) * (workers == 0 ? 0 : workers - 1);
  }
};

/// The clocks of one parameter group. A member's `pushed` counts its own pushes; its `pace` is its place in the race, which joining and
/// waking up from idleness set to the slowest active member's.
class ClockTable {
 public:
  explicit ClockTable(StalenessBound bound) : bound_(bound) {}

  /// A new member starts active at the current minimum; its pushes are counted from `pushed` on. Joining again changes nothing.
  void join(ActorId id, std::uint64_t pushed = 0);
  void leave(ActorId id) { members_.erase(id); }
  /// An idle member holds nobody back. True when this changed something.
  bool set_active(ActorId id, bool active);
  /// One more push of this member was accounted for.
  void advance(ActorId id);

  /// The member's pushes are counted from `pushed` on, if that is further; its place in the race stays.
  void skip(ActorId id, std::uint64_t pushed);

  /// The member may start `extra` units from its next one on, whatever the bound says, but none beyond the bound and `range`.
  void grant(ActorId id, std::uint64_t extra, std::uint64_t range);

  /// Puts every active member at the pace of the fastest: whoever waited may go on.
  void level();

  [[nodiscard]] bool contains(ActorId id) const { return members_.contains(id); }
  [[nodiscard]] bool active(ActorId id) const;
  [[nodiscard]] std::uint64_t pushed(ActorId id) const;
  [[nodiscard]] std::uint64_t pace(ActorId id) const;
  [[nodiscard]] std::uint64_t slowest() const;   ///< smallest pace of the active; the largest of all where nobody is active
  [[nodiscard]] ActorId slowest_member() const;  ///< the first that has this pace; somebody must be active
  [[nodiscard]] bool fastest(ActorId id) const;  ///< no active member is ahead of it
  [[nodiscard]] std::size_t active_count() const;
  /// Who shares the round of this member's next push: the active, and those that have become idle after their push of it.
  [[nodiscard]] std::size_t sharing(ActorId id) const;
  /// Does it take part in that round? As in sharing().
  [[nodiscard]] bool shares(ActorId id, std::uint64_t round) const { return active(id) || pace(id) > round; }
  [[nodiscard]] std::size_t active_max() const { return active_max_; }  ///< most that were ever active at once
  /// The member may start units (counted like its pushes) up to and including this one; empty: no bound.
  [[nodiscard]] std::optional<std::uint64_t> admitted(ActorId id) const;
  /// May it start its next unit, the one after its last push?
  [[nodiscard]] bool admits_next(ActorId id) const;
  [[nodiscard]] const StalenessBound& bound() const { return bound_; }

 private:
  struct Clock {
    std::uint64_t pushed = 0;
    std::uint64_t pace = 0;
    bool active = true;
    std::uint64_t granted = 0;  ///< it may start units below this pace
  };
  void note_active();
  StalenessBound bound_;
  std::map<ActorId, Clock> members_;
  std::size_t active_max_ = 0;
};

}  // namespace hourglass::params
