// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "messages/fields.h"
#include "messages/message_type.h"

namespace hourglass {

/// Aggregator's main loop -> the sender of a Heartbeat: proof that the aggregator makes progress.
struct HeartbeatReply {
  static constexpr MessageType kType = MessageType::heartbeat_reply;
  std::uint32_t generation = 0;

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.number(m.generation);
  }
};

}  // namespace hourglass
