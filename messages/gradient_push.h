// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "messages/gradient_block.h"
#include "messages/message_type.h"

namespace hourglass {

/// How far a child's pushes are contained in what a tree node has pushed.
struct Carried {
  ActorId id;
  std::uint64_t clock = 0;  ///< of the child's first push that is not contained

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.choice(m.id.role, kLastRole);
    v.number(m.id.index);
    v.number(m.clock);
  }
};

/// A worker -> its parent (the aggregator or a tree node), and a tree node -> its own: what it wants added to the group's parameters
/// (weight-delta units: after its own optimizer, over H local steps; or, where the job has a server rule, the negative mean gradient).
/// Named by (run, generation, sender, clock); accepted in clock order, exactly once.
struct GradientPush {
  static constexpr MessageType kType = MessageType::gradient_push;
  std::uint64_t run = 0;
  std::uint32_t generation = 0;
  Group group = Group::conv;
  std::uint64_t clock = 0;           ///< counts the sender's pushes from 0, without gaps
  std::uint64_t base_version = 0;    ///< oldest version that any of its gradients was computed with
  std::uint32_t samples = 0;         ///< 0 for a final flush of the residual
  double progress = 0;               ///< of its newest batch, as in Batch: where a server rule needs the schedule's rate
  double gradient_variance = 0;      ///< of one sample's gradient in this unit, where the job's local policy asks for it
  double gradient_norm_squared = 0;  ///< of the unit's mean gradient; both 0: nothing is known
  bool momentum = false;             ///< momentum instead of a gradient, for a server rule that takes both
  bool flush = false;                ///< the last push of this sender before the end of the run or its leave
  std::uint32_t workers = 1;         ///< whose rounds are summed up in it: the sender's weight in the mean over all workers
  std::vector<Carried> carried;      ///< of a tree node: should it die, its parent knows what of its children's pushes came through
  std::vector<GradientBlock> blocks;

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.number(m.run);
    v.number(m.generation);
    v.choice(m.group, Group::fc);
    v.number(m.clock);
    v.number(m.base_version);
    v.number(m.samples);
    v.real(m.progress);
    v.real(m.gradient_variance);
    v.real(m.gradient_norm_squared);
    v.flag(m.momentum);
    v.flag(m.flush);
    v.number(m.workers, 0, limits::kMembers);
    v.items(m.carried, limits::kMembers);
    v.items(m.blocks, limits::kBlocks);
  }
};

}  // namespace hourglass
