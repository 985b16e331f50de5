// SPDX-License-Identifier: Apache-2.0
// A tree node's part of one parameter group: towards its parent a worker's (see Replica), towards its children an aggregator's (see
// ParameterStore). Pushes go up merged, deltas pass down as they came.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "learning/params/inheritance.h"
#include "learning/params/merge_node.h"
#include "learning/params/published.h"
#include "messages/gradient_push.h"
#include "messages/parameter_update.h"
#include "messages/push_verdict.h"

namespace hourglass::params {

class Relay {
 public:
  static constexpr bool kOwnsParameters = false;

  /// `lossless`: of the job's downlink.
  Relay(std::vector<float> initial, MergeNode merge, bool lossless);

  /// Towards the children.
  /// A validated push, whole: it is the root that weighs. False where the sum could not be held; then nothing changes.
  [[nodiscard]] bool take(const std::vector<GradientBlock>& blocks, bool flush);
  [[nodiscard]] std::uint64_t published_version() const { return copy_.version(); }
  [[nodiscard]] const std::vector<float>& published() const { return copy_.values(); }
  [[nodiscard]] bool lossless() const { return lossless_; }
  /// As ParameterStore's.
  [[nodiscard]] Result<std::vector<VersionDelta>> deltas_since(std::uint64_t from) const;
  [[nodiscard]] VersionDelta absolute() const { return whole(version(), published()); }
  /// Server rules and trees do not go together.
  [[nodiscard]] bool wants_momentum() const { return false; }

  /// Towards the parent.
  [[nodiscard]] std::uint64_t version() const { return copy_.version(); }
  [[nodiscard]] std::size_t size() const { return published().size(); }
  /// What is to be forwarded now; a flush forwards all that is held.
  Result<std::vector<GradientBlock>> push(std::uint64_t clock, bool flush, bool flush_residual);
  void settle(std::uint64_t clock, Verdict verdict);
  void end_warmup() {}
  /// Errors: as Replica's.
  Status absorb(const ParameterUpdate& update);
  Status absorb(std::span<const float> values, std::uint64_t version, std::uint64_t applied_clock);

  /// What an earlier one of the same process held, as Replica::inherit().
  Inheritance inherit(Relay&& earlier, const std::optional<PushMarks>& marks);

  [[nodiscard]] const MergeNode& merge() const { return merge_; }

 private:
  struct Forwarded {
    std::uint64_t clock = 0;
    std::vector<GradientBlock> blocks;
  };
  PublishedCopy copy_;
  MergeNode merge_;
  bool lossless_;
  std::deque<Forwarded> unsettled_;
  /// Values came as a whole; `before`: the version until then.
  void replaced(std::uint64_t before);
  DeltaRing ring_;
  std::optional<std::uint64_t> ambiguous_;  ///< a version of which other values came later: children may hold either
};

}  // namespace hourglass::params
