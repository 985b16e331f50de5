// SPDX-License-Identifier: Apache-2.0
// A worker's copy of one parameter group: follows the published stream, reads its own writes, and turns local steps into pushes.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "learning/compress/error_feedback.h"
#include "learning/params/inheritance.h"
#include "learning/params/published.h"
#include "messages/gradient_push.h"
#include "messages/parameter_update.h"
#include "messages/push_verdict.h"

namespace hourglass::params {

/// working = published(version) + own pushes that this version does not contain + local steps since the last push. What error feedback
/// holds back is in none of them: it reaches the model when it is sent.
class Replica {
 public:
  /// Steps are weight deltas.
  Replica(std::vector<float> initial, compress::ErrorFeedback memory);
  /// Steps are gradients for a server rule: working is what is published, and no more. `warmup`: what compresses until end_warmup().
  static Replica of_gradients(std::vector<float> initial, compress::ErrorFeedback memory, std::optional<compress::ErrorFeedback> warmup);

  /// From here on: see params/take_policy.h. Empty: "keep".
  void mix(std::optional<double> alpha) { alpha_ = alpha; }

  [[nodiscard]] std::uint64_t version() const { return copy_.version(); }
  [[nodiscard]] std::size_t size() const { return copy_.values().size(); }
  /// What to compute with. Shared and never written again while anybody else holds it: a batch under way keeps the parameters of its
  /// forward pass.
  [[nodiscard]] std::shared_ptr<const std::vector<float>> working() const { return working_; }

  /// A local optimizer step (weight-delta units).
  void step(std::span<const float> delta);
  /// Turns the local steps since the last push into blocks and opens the next one. `flush`: everything, residual included, uncompressed.
  /// Errors: bad_data for non-finite steps: they are dropped, and working returns to what it was before them.
  Result<std::vector<GradientBlock>> push(std::uint64_t clock, bool flush, bool flush_residual);
  void end_warmup() { warmup_.reset(); }
  /// Settles a push. What was rejected returns to the residual.
  void settle(std::uint64_t clock, Verdict verdict);

  /// Takes over what an earlier replica of the same process held back, as this one begins at a parent that has started anew, or that had
  /// dropped us. Its pushes below `contained` are settled, by `rejected` (see Welcome) where their verdict is still open; those above did
  /// not come through, or were rolled back: they return to the residual. Steps that were in no push are dropped: their samples are handed
  /// out again. Without marks nobody can say what became of open pushes: they are lost. Errors: as ErrorFeedback::adopt(); then all is
  /// lost.
  Inheritance inherit(Replica&& earlier, const std::optional<PushMarks>& marks);

  /// Follows an update. Errors: too_stale where its deltas start elsewhere than here (ask again); malformed, bad_data: nothing changed.
  Status absorb(const ParameterUpdate& update);
  /// Takes values as a whole (snapshot).
  Status absorb(std::span<const float> values, std::uint64_t version, std::uint64_t applied_clock);

  /// Steps since the last push.
  [[nodiscard]] std::span<const float> local() const { return local_; }
  /// Blocks of the push that push() has just made; valid until settle(), absorb() or the next push.
  [[nodiscard]] std::span<const GradientBlock> newest_push() const;
  /// Pushes say all there is to say, bit by bit.
  [[nodiscard]] bool lossless() const { return (warmup_ ? *warmup_ : memory_).lossless(); }
  /// What error feedback holds back.
  [[nodiscard]] std::span<const float> residual() const { return memory_.residual(); }
  Status adopt_residual(std::span<const float> held) { return memory_.adopt(held); }
  [[nodiscard]] double residual_norm() const { return memory_.residual_norm(); }
  [[nodiscard]] std::size_t unsettled() const;  ///< pushes without a verdict
  [[nodiscard]] std::span<const float> published() const { return copy_.values(); }

 private:
  struct Pending {
    std::uint64_t clock = 0;
    bool settled = false;
    std::vector<GradientBlock> blocks;
  };
  void drop_contained(std::uint64_t applied_clock);
  void take_in();
  void rebuild();
  std::vector<float>& writable();
  compress::ErrorFeedback& memory() { return warmup_ ? *warmup_ : memory_; }

  PublishedCopy copy_;
  std::vector<float> local_;  ///< sum of steps since the last push
  bool local_used_ = false;
  std::shared_ptr<std::vector<float>> working_;
  compress::ErrorFeedback memory_;
  std::optional<compress::ErrorFeedback> warmup_;
  bool gradients_ = false;
  std::optional<double> alpha_;
  std::deque<Pending> pending_;
};

}  // namespace hourglass::params
