// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "messages/fields.h"
#include "messages/message_type.h"

namespace hourglass {

enum class Supply : std::uint8_t {
  more,      ///< batches are on their way or can be asked for
  none_now,  ///< nothing to hand out, but leases of others may return: ask again
  finished,  ///< all training data is used up and accounted for
};

/// Data loader -> CONV worker, one answer per BatchRequest.
struct LeaseUpdate {
  static constexpr MessageType kType = MessageType::lease_update;
  std::uint64_t answers = 0;  ///< sequence of the request; its `done` entries have been taken
  Supply supply = Supply::more;

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.number(m.answers);
    v.choice(m.supply, Supply::finished);
  }
};

}  // namespace hourglass
