// SPDX-License-Identifier: Apache-2.0
// When checkpoints are made and what they are made of, and what a later life does with them. The aggregator says when training begins, what
// arrives, and who joins.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "actors/aggregator/recovery.h"
#include "actors/aggregator/run_state.h"
#include "actors/aggregator/state_collection.h"

namespace hourglass {

class Checkpoints {
 public:
  Checkpoints(RecoverySettings settings, std::uint64_t run, std::uint32_t generation) : recovery_(settings, run, generation) {}

  Recovery& recovery() { return recovery_; }
  [[nodiscard]] const Recovery& recovery() const { return recovery_; }

  /// Journals what the groups decide from now on, and puts the parts where an earlier life stopped. Errors: bad_data.
  Status go_on(Context& context, const RunParts& parts, const Job& job);
  /// Once a second while training goes on.
  void look(Context& context, const RunParts& parts, const Job& job);
  /// One now, after an evaluation; with one FC worker its state is fetched first, and training goes on meanwhile.
  void begin(Context& context, const RunParts& parts, const Job& job, std::optional<double> accuracy);
  /// Everybody in `who` has come to rest: the last one, with their states.
  void begin_last(Context& context, const std::vector<ActorId>& who);
  void take(Context& context, ActorId from, const StateChunk& chunk) { collection_.take(context, from, chunk); }
  void forget(ActorId id) { collection_.forget(id); }
  /// Forgets one that was begun.
  void abandon() { (void)collection_.end(); }
  [[nodiscard]] bool under_way() const { return collection_.active(); }
  /// Asks again for what stays away, and writes the checkpoint when everything has come, or has not come for too long: true.
  bool end_if_due(Context& context, const RunParts& parts, const Job& job, Phase phase, const std::string& build);

  /// The state of an earlier process with its number goes to one process, and only where that has none of its own; the state of the only FC
  /// worker belongs to the parameters that are here. Null: none for it.
  const Bytes* state_for(const MemberTable::Row& row, const RunParts& parts, const Job& job);
  /// The only FC worker's parameters have come without its state.
  void outdate_fc_state() { states_.erase({Role::fc_worker, 0}); }

 private:
  using Place = std::pair<Role, std::uint32_t>;  ///< role and number
  void keep(Context& context, const RunParts& parts, const Job& job, std::map<Place, Bytes>& told);
  Recovery recovery_;
  StateCollection collection_;
  std::map<Place, Bytes> states_;   ///< of earlier processes, or the only FC worker's newest
  std::map<Place, ActorId> given_;  ///< who took one
  std::optional<double> accuracy_;  ///< of an evaluation that no checkpoint has followed yet
};

}  // namespace hourglass
