// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "messages/fields.h"
#include "messages/message_type.h"

namespace hourglass {

/// A piece of what a worker holds beside published parameters (optimizer, residual, random numbers; of the only FC worker its parameters,
/// too): worker -> aggregator for a checkpoint, aggregator -> the worker that goes on from one. Answers one StateRequest.
struct StateChunk {
  static constexpr MessageType kType = MessageType::state_chunk;
  std::uint32_t generation = 0;
  std::uint64_t number = 0;  ///< of the StateRequest
  std::uint64_t total = 0;   ///< bytes of the whole; 0: there is none
  std::uint64_t offset = 0;
  Bytes bytes;

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.number(m.generation);
    v.number(m.number);
    v.number(m.total, 0, limits::kStateBytes);
    v.number(m.offset, 0, limits::kStateBytes);
    v.blob(m.bytes, limits::kChunkBytes);
  }
};

}  // namespace hourglass
