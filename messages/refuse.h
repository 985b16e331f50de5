// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "messages/fields.h"
#include "messages/message_type.h"

namespace hourglass {

enum class Refusal : std::uint8_t {
  protocol = 1,        ///< no common protocol version; final
  role_full = 2,       ///< the job has as many of this role as it wants; try later
  duplicate = 3,       ///< another live process holds this identity; final
  unknown_member = 4,  ///< "I do not know you": say Hello again
  run_over = 5,        ///< the run has ended; final
  bad_request = 6,     ///< final
};

/// Aggregator -> a process that may not take part, or is no longer known.
struct Refuse {
  static constexpr MessageType kType = MessageType::refuse;
  Refusal code = Refusal::bad_request;
  std::string text;  ///< cause and next step, naming both sides' values

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.choice(m.code, Refusal::protocol, Refusal::bad_request);
    v.text(m.text, limits::kTextBytes);
  }
};

}  // namespace hourglass
