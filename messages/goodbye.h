// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "messages/fields.h"
#include "messages/message_type.h"

namespace hourglass {

/// A process -> aggregator: it leaves now, having drained; what it still held has been pushed or returned.
struct Goodbye {
  static constexpr MessageType kType = MessageType::goodbye;
  std::string reason;

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.text(m.reason, limits::kTextBytes);
  }
};

}  // namespace hourglass
