// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "messages/fields.h"
#include "messages/message_type.h"

namespace hourglass {

/// Every process's heartbeat thread -> aggregator, each second, also while a long computation runs.
struct Heartbeat {
  static constexpr MessageType kType = MessageType::heartbeat;
  std::uint64_t progress_age_ms = 0;  ///< since the sender's loop last turned: a hung process tells on itself

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.number(m.progress_age_ms);
  }
};

}  // namespace hourglass
