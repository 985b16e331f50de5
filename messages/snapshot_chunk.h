// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "messages/fields.h"
#include "messages/message_type.h"

namespace hourglass {

/// A piece of a group's parameters at one version, f32: aggregator -> joiner, or the only FC worker -> aggregator.
struct SnapshotChunk {
  static constexpr MessageType kType = MessageType::snapshot_chunk;
  std::uint32_t generation = 0;
  Group group = Group::conv;
  std::uint64_t version = 0;
  std::uint64_t applied_clock = 0;  ///< as in ParameterUpdate
  std::uint64_t admitted_clock = 0;
  std::uint64_t total = 0;   ///< parameters of the group
  std::uint64_t offset = 0;  ///< of this chunk, in parameters
  Bytes values;              ///< f32

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.number(m.generation);
    v.choice(m.group, Group::fc);
    v.number(m.version);
    v.number(m.applied_clock);
    v.number(m.admitted_clock);
    v.number(m.total, 0, limits::kParameters);
    v.number(m.offset, 0, limits::kParameters);
    v.blob(m.values, limits::kChunkBytes);
  }
};

}  // namespace hourglass
