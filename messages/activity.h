// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "messages/fields.h"
#include "messages/message_type.h"

namespace hourglass {

/// A worker -> aggregator: it has run out of training data for now (idle: nobody waits for it), or has some again. An idle
/// worker that becomes active starts at the current minimum clock.
struct Activity {
  static constexpr MessageType kType = MessageType::activity;
  std::uint32_t generation = 0;
  std::uint64_t sequence = 0;  ///< per sender, rising: an older one that arrives late is ignored
  bool active = false;

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.number(m.generation);
    v.number(m.sequence);
    v.flag(m.active);
  }
};

}  // namespace hourglass
