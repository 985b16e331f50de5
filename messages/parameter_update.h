// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "messages/gradient_block.h"
#include "messages/message_type.h"

namespace hourglass {

/// One published step of the shared downlink stream.
struct VersionDelta {
  std::uint64_t to = 0;               ///< version after it
  std::vector<GradientBlock> blocks;  ///< added one after the other
  std::vector<GradientBlock>
      replaced;  ///< then these: entries are the values themselves (f32), where that says the steps of several versions in fewer bytes

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.number(m.to);
    v.items(m.blocks, limits::kBlocks);
    v.items(m.replaced, limits::kBlocks);
  }
};

/// Aggregator -> worker, as soon as the staleness bound admits its next unit of work. Either deltas that lead from version
/// `from` to the last delta's `to`, or, where that is smaller or exact values are asked for, `absolute`: one delta whose blocks
/// hold the values themselves (dense, f32).
struct ParameterUpdate {
  static constexpr MessageType kType = MessageType::parameter_update;
  static constexpr std::uint64_t kNoBound = std::numeric_limits<std::uint64_t>::max();
  std::uint32_t generation = 0;
  Group group = Group::conv;
  std::uint64_t applied_clock = 0;   ///< pushes of the receiver that are contained (clocks below this)
  std::uint64_t admitted_clock = 0;  ///< the receiver may start units of work up to and including this one; kNoBound
  std::uint32_t local_steps = 0;     ///< of units that start from here on; 0: nothing new
  std::uint32_t step_batches = 0;    ///< batches that one such step takes together; 0: nothing new
  bool frozen = false;               ///< the server rule wants momentum from here on, compressed
  bool absolute = false;
  std::uint64_t from = 0;
  std::vector<VersionDelta> deltas;  ///< may be empty: only the clocks are news

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.number(m.generation);
    v.choice(m.group, Group::fc);
    v.number(m.applied_clock);
    v.number(m.admitted_clock);
    v.number(m.local_steps, 0, limits::kLocalSteps);
    v.number(m.step_batches, 0, limits::kLocalSteps);
    v.flag(m.frozen);
    v.flag(m.absolute);
    v.number(m.from);
    v.items(m.deltas, limits::kDeltas);
  }
};

}  // namespace hourglass
