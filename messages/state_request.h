// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "messages/fields.h"
#include "messages/message_type.h"

namespace hourglass {

/// Aggregator -> worker: "your state for checkpoint `number`, from byte `offset` on"; the worker takes its picture at offset 0 and keeps it
/// until the next number. Worker -> aggregator, when Welcome says that there is one: "the state to go on from". Repeated until the piece
/// comes; then the next piece is asked for.
struct StateRequest {
  static constexpr MessageType kType = MessageType::state_request;
  std::uint32_t generation = 0;
  std::uint64_t number = 0;
  std::uint64_t offset = 0;

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.number(m.generation);
    v.number(m.number);
    v.number(m.offset, 0, limits::kStateBytes);
  }
};

}  // namespace hourglass
