// SPDX-License-Identifier: Apache-2.0
// The child's side of one parameter group, be it a worker or a tree node: what it may start, its pushes until they are settled, the updates
// that come back. Its parent is the aggregator or a tree node, and may change.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <type_traits>
#include <vector>

#include "actors/patience.h"
#include "learning/params/adaptive_batch.h"
#include "learning/params/relay.h"
#include "learning/params/replica.h"
#include "messages/all_messages.h"
#include "runtime/context.h"

namespace hourglass {

/// What a push may say beyond its blocks.
struct Gathered {
  std::uint32_t workers = 1;  ///< of a tree node, as the next
  std::vector<Carried> carried;
  params::GradientNoise noise = {};  ///< of a worker
};

/// Replica: params::Replica of a worker, or a reference to the params::Relay of a tree node.
template <class Replica>
class BasicGroupMember {
 public:
  /// Pushes under way at a time: with an unlimited staleness bound, this is what keeps a worker from running away.
  static constexpr std::size_t kPushWindow = 8;
  /// Clocks from the oldest unsettled push to the next one: its verdict may be lost, and the parent remembers the newest ones only.
  static constexpr std::uint64_t kClockWindow = 32;

  using Values = std::remove_reference_t<Replica>;

  BasicGroupMember(Group group, Replica replica, const Welcome& welcome);

  /// Asks the parent for everything after the initial parameters, which each process computes from the job's seed.
  void start(Context& context, ActorId parent = kAggregator);
  /// Starts, or goes on, under this parent. What is unsettled is settled by the old one first, unless that is `gone`: then it is sent to
  /// the new one, which knows from the old one's pushes what came through.
  void follow(Context& context, ActorId parent, bool gone);
  [[nodiscard]] std::optional<ActorId> parent() const { return parent_; }
  /// Nothing may be started before the next update: after idleness the clocks have moved.
  void await_update(Context& context);

  /// May unit of work `unit` (each ends in one push) be started now?
  [[nodiscard]] bool admits(std::uint64_t unit) const;
  [[nodiscard]] bool ready() const { return ready_; }           ///< the parameters here are the run's
  [[nodiscard]] std::uint64_t clock() const { return clock_; }  ///< of the next push
  [[nodiscard]] Values& replica() { return replica_; }
  [[nodiscard]] const Values& replica() const { return replica_; }
  [[nodiscard]] bool frozen() const { return frozen_; }  ///< pushes are momentum from here on
  [[nodiscard]] std::size_t unsettled() const { return unsettled_.size(); }
  /// No other push may be made before the oldest is settled.
  [[nodiscard]] bool full() const;
  /// Units up to and including this one may be started; kNoBound of ParameterUpdate.
  [[nodiscard]] std::uint64_t admitted() const { return admitted_; }
  [[nodiscard]] std::uint64_t applied_clock() const { return applied_clock_; }  ///< the parameters here contain the pushes below
  /// The parent takes no pushes for now; a flush waits, too.
  [[nodiscard]] bool refused() const { return refused_; }

  /// Makes and sends the next push. False where the local steps were not finite: they are dropped and counted, no push is made.
  /// `progress`: of its newest batch.
  bool push(Context& context, std::uint64_t base_version, std::uint32_t samples, double progress, bool flush, bool flush_residual,
            Gathered gathered = {});
  /// The clock that this verdict settled, if it was open.
  std::optional<std::uint64_t> on(Context& context, const PushVerdict& message);
  /// True where it was taken.
  bool on(Context& context, ActorId from, const ParameterUpdate& message);
  /// True where it completed a snapshot.
  bool on(Context& context, ActorId from, SnapshotChunk&& message);
  /// Twice a second: repeats what stayed unanswered. `waiting`: somebody here waits for an update although we may go on.
  void tick(Context& context, bool waiting = false);

  /// True once values have come that contain all of this worker's pushes, the flush included.
  [[nodiscard]] bool flushed() const { return flush_made_ && unsettled_.empty() && applied_clock_ >= clock_ && exact_; }
  [[nodiscard]] bool flush_made() const { return flush_made_; }

 private:
  struct Open {
    std::uint64_t clock = 0;
    Parcel parcel;
    bool posted = false;  ///< only where all earlier ones are: the parent takes them in order
    bool repeated = false;
    Instant sent{};
  };
  void post_waiting(Context& context);
  void repeat_overdue(Context& context);
  void request(Context& context);
  void move(Context& context, ActorId parent);
  void send_unsettled(Context& context);
  void took(Context& context, std::uint64_t applied, std::uint64_t admitted);

  Group group_;
  Replica replica_;
  std::optional<ActorId> parent_;
  std::optional<ActorId> next_parent_;  ///< once the present one has settled what is open
  bool resend_ = false;                 ///< to a new parent, when it has answered
  bool refused_ = false;
  bool moved_ = false;  ///< what is unsettled may have gaps that the present parent knows nothing of
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
  Instant last_verdict_{};
  Patience push_patience_{std::chrono::minutes(1)};
  struct Snapshot {
    std::uint64_t version = 0;
    std::uint64_t filled = 0;
    std::vector<float> values;
  };
  std::optional<Snapshot> snapshot_;
};

using GroupMember = BasicGroupMember<params::Replica>;
using RelayMember = BasicGroupMember<params::Relay&>;
extern template class BasicGroupMember<params::Replica>;
extern template class BasicGroupMember<params::Relay&>;

}  // namespace hourglass
