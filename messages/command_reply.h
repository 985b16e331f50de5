// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "messages/fields.h"
#include "messages/message_type.h"

namespace hourglass {

/// Aggregator -> the monitor that sent a RunCommand.
struct CommandReply {
  static constexpr MessageType kType = MessageType::command_reply;
  std::uint64_t sequence = 0;
  bool accepted = false;
  std::string text;  ///< why it was refused

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.number(m.sequence);
    v.flag(m.accepted);
    v.text(m.text, limits::kTextBytes);
  }
};

}  // namespace hourglass
