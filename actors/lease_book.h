// SPDX-License-Identifier: Apache-2.0
// A CONV worker's side of the conversation with the data loader: which leases it holds and in which state.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "messages/batch.h"
#include "messages/batch_request.h"
#include "messages/lease_update.h"
#include "runtime/context.h"

namespace hourglass {

/// A lease goes received -> under way -> (training only: computed, then settling with its push) -> done. `done` entries are repeated until
/// the loader answers.
class LeaseBook {
 public:
  /// Forgets everything, for a data loader that does, too. Requests go on being numbered from where they were.
  void restart() {
    const std::uint64_t sequence = sequence_;
    *this = {};
    sequence_ = answered_ = sequence;
  }
  /// Takes a batch; false where it is held or done already (a repeat).
  bool receive(Batch&& batch);
  /// The next batch to work on, if any: evaluations first. `train`: may a training batch be started?
  std::optional<Batch> next(bool train);
  /// Computed, but not in a push yet.
  void computed(LeaseResult result);
  /// What was computed is in push `clock`: these leases end with its verdict.
  void pushed(std::uint64_t clock);
  /// What was computed came to nothing and will not be pushed: these leases end now.
  void dropped();
  void done(LeaseResult result);
  void settled(std::uint64_t clock);
  /// Gives back what has not been started: all of it, or only what is for training.
  void give_back();
  void give_back_training() { give_back(train_); }

  /// Sends a request where there is news or, for `repeat`, in any case. `capacity`: leases to be worked on at a time.
  void request(Context& context, ActorId loader, std::uint32_t capacity, bool repeat);
  void on(const LeaseUpdate& message);

  [[nodiscard]] std::size_t waiting() const { return evaluate_.size() + train_.size(); }
  [[nodiscard]] bool empty() const { return waiting() == 0 && under_way_.empty() && computed_.empty() && settling_.empty(); }
  /// The loader knows everything, and nothing of its is on the way here.
  [[nodiscard]] bool reported() const { return done_.empty() && answered_ == sequence_; }
  [[nodiscard]] Supply supply() const { return supply_; }

 private:
  void give_back(std::deque<Batch>& queue);
  struct Done {
    LeaseResult result;
    std::uint64_t told = 0;  ///< sequence of the first request that carries it; 0: none yet
  };
  std::deque<Batch> evaluate_, train_;
  std::set<std::uint64_t> under_way_;
  std::vector<LeaseResult> computed_;
  std::multimap<std::uint64_t, LeaseResult> settling_;  ///< by the clock of their push
  std::deque<Done> done_;
  std::uint64_t sequence_ = 0;
  std::uint64_t answered_ = 0;
  std::uint32_t asked_capacity_ = 0;
  Supply supply_ = Supply::more;
};

}  // namespace hourglass
