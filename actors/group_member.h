// SPDX-License-Identifier: Apache-2.0
// The worker's side of one parameter group: what it may start, its pushes until they are settled, the updates that come back.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "learning/params/replica.h"
#include "messages/all_messages.h"
#include "runtime/context.h"

namespace hourglass {

class GroupMember {
 public:
  /// Pushes under way at a time: with an unlimited staleness bound, this is what keeps a worker from running away.
  static constexpr std::size_t kPushWindow = 8;

  GroupMember(Group group, params::Replica replica, const Welcome& welcome);

  /// Asks for everything after the initial parameters, which each process computes from the job's seed.
  void start(Context& context);
  /// Nothing may be started before the next update: after idleness the clocks have moved.
  void await_update(Context& context);

  /// May unit of work `unit` (each ends in one push) be started now?
  [[nodiscard]] bool admits(std::uint64_t unit) const;
  [[nodiscard]] bool ready() const { return ready_; }           ///< the parameters here are the run's
  [[nodiscard]] std::uint64_t clock() const { return clock_; }  ///< of the next push
  [[nodiscard]] params::Replica& replica() { return replica_; }
  [[nodiscard]] const params::Replica& replica() const { return replica_; }
  [[nodiscard]] bool frozen() const { return frozen_; }  ///< pushes are momentum from here on
  [[nodiscard]] std::size_t unsettled() const { return unsettled_.size(); }

  /// Makes and sends the next push. False where the local steps were not finite: they are dropped and counted, no push is made.
  /// `progress`: of its newest batch.
  bool push(Context& context, std::uint64_t base_version, std::uint32_t samples, double progress, bool flush, bool flush_residual);
  /// The clock that this verdict settled, if it was open.
  std::optional<std::uint64_t> on(Context& context, const PushVerdict& message);
  /// True where it was taken.
  bool on(Context& context, const ParameterUpdate& message);
  /// True where it completed a snapshot.
  bool on(Context& context, SnapshotChunk&& message);
  /// Twice a second: repeats what stayed unanswered.
  void tick(Context& context);

  /// True once values have come that contain all of this worker's pushes, the flush included.
  [[nodiscard]] bool flushed() const { return flush_made_ && unsettled_.empty() && applied_clock_ >= clock_ && exact_; }
  [[nodiscard]] bool flush_made() const { return flush_made_; }

 private:
  struct Open {
    std::uint64_t clock = 0;
    Parcel parcel;
    Instant sent{};
  };
  void request(Context& context);
  void took(Context& context, std::uint64_t applied, std::uint64_t admitted);

  Group group_;
  params::Replica replica_;
  std::uint64_t run_;
  std::uint32_t generation_;
  std::uint64_t clock_;
  std::uint64_t applied_clock_;
  std::deque<Open> unsettled_;
  std::uint64_t admitted_ = 0;
  bool ready_ = false;  ///< an update has come since start() or await_update()
  bool frozen_ = false;
  bool flush_made_ = false;
  bool exact_ = false;  ///< the newest values came whole, not as deltas
  Instant last_word_{};
  struct Snapshot {
    std::uint64_t version = 0;
    std::uint64_t filled = 0;
    std::vector<float> values;
  };
  std::optional<Snapshot> snapshot_;
};

}  // namespace hourglass
