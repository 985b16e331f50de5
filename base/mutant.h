// SPDX-License-Identifier: Apache-2.0
// Bugs that tests plant to see whether the simulator's checkers catch them, and a window for these checkers into what no message tells.
// Both exist only in the copies of the libraries that tests/simulation builds with HOURGLASS_MUTANTS; everywhere else a mutant is the
// constant false, and a witness is nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace hourglass {

enum class Mutant : std::uint8_t {
  none,
  no_deduplication,       ///< a push that comes again is taken again
  gaps_accepted,          ///< a push whose predecessor is missing is taken
  staleness_ignored,      ///< everybody may always go on, and every push is fresh
  stale_generation,       ///< messages of an earlier aggregator's time count
  incarnation_reused,     ///< a process that starts again takes the name of its earlier life
  residual_not_restored,  ///< what was rejected is lost
  lease_never_returned,   ///< a lost worker keeps its leases
  late_values_taken,      ///< older values overwrite newer ones: a snapshot mixed with deltas
  stray_verdict_settles,  ///< a verdict that came twice settles another push
  wrong_base_applied,     ///< deltas that start at another version are added
  old_roster_taken,       ///< a roster that comes late replaces a newer one
  flush_before_drain,     ///< a worker flushes while batches are under way
  applied_in_name_only,   ///< a push is acknowledged and dropped
  window_ignored,         ///< a worker sends pushes without an end to those unanswered
  dead_hold_back,         ///< a member that is gone still counts as the slowest
  joiner_at_zero,         ///< a joiner begins at clock 0 instead of the slowest's
  lease_done_twice,       ///< a lease that is reported again counts again
  done_before_settled,    ///< a lease is done when its push is sent, not when it is settled
  lease_numbers_reused,   ///< a new data loader counts its leases from 1
  no_journal,             ///< a restarted aggregator knows nothing of what came after its checkpoint
  marks_forgotten,        ///< a checkpoint says nothing of the pushes that it contains
  verdict_forgotten,      ///< a repeat gets another verdict than the first
};

#ifdef HOURGLASS_MUTANTS
inline Mutant planted = Mutant::none;
inline bool mutant(Mutant which) { return planted == which; }
#else
constexpr bool mutant(Mutant) { return false; }
#endif

/// What a checker may want to see of a parameter group's copy.
struct Witness {
  virtual ~Witness() = default;
  /// Values that the owner of a group publishes as `version`, and those that a follower holds as it.
  virtual void published(std::uint64_t version, std::span<const float> values) = 0;
  virtual void followed(std::uint64_t version, std::span<const float> values) = 0;
  /// A worker's local step, and what its memory holds after a push.
  virtual void stepped(std::span<const float> delta) = 0;
  virtual void held(std::span<const float> residual) = 0;
};

#ifdef HOURGLASS_MUTANTS
inline Witness* witness = nullptr;
template <class Look>
void show(Look look) {
  if (witness != nullptr) look(*witness);
}
#else
template <class Look>
void show(Look /*look*/) {}
#endif

}  // namespace hourglass
