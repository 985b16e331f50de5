// SPDX-License-Identifier: Apache-2.0
// What a worker keeps from one membership to the next, tells the aggregator for a checkpoint, and takes over from an earlier process.
#pragma once

#include <optional>

#include "actors/state_transfer.h"
#include "actors/worker_state.h"
#include "learning/params/optimizer.h"
#include "learning/params/replica.h"
#include "messages/welcome.h"

namespace hourglass {

/// The residual of an earlier membership of this process, and what became of its pushes, into the replica of a new one; counts what
/// returned and what is lost.
void inherit(Context& context, const Welcome& welcome, params::Replica&& earlier, params::Replica& next);

/// What the aggregator says of earlier pushes; empty: it cannot know.
std::optional<params::PushMarks> marks_of(const Welcome& welcome);
/// `norm`: of the residual that there was.
void note_inheritance(Context& context, const params::Inheritance& taken, double norm);

class KeptState {
 public:
  /// A new membership: asks for an earlier state where the aggregator has one.
  void begin(Context& context, const Welcome& welcome);
  void tick(Context& context);
  /// The worker must not start anything yet.
  [[nodiscard]] bool awaited() const { return fetch_.has_value(); }
  /// The state, when this was its last piece; none that can be read: empty.
  std::optional<WorkerState> take(Context& context, ActorId from, const StateChunk& chunk);
  /// `picture` makes the present state; it is kept until another one is asked for.
  template <class Picture>
  void answer(Context& context, ActorId to, const StateRequest& request, Picture picture) {
    if (request.offset == 0) {
      picture_ = encode_worker_state(picture());
      number_ = request.number;
    }
    if (request.number == number_) (void)context.send(to, state_piece(request, picture_));  // lost: asked for again
  }

 private:
  std::optional<StateFetch> fetch_;
  Bytes picture_;
  std::uint64_t number_ = 0;
};

/// The optimizer's state, the residual and the random numbers of a worker as they are now.
WorkerState state_of(Context& context, const params::Optimizer& optimizer, std::span<const float> residual, std::uint64_t version);
/// The reverse, into what is as new. What does not fit (a setting has changed) stays as new.
void adopt_state(Context& context, const WorkerState& state, params::Optimizer& optimizer, params::Replica* replica);

}  // namespace hourglass
