// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "messages/fields.h"
#include "messages/message_type.h"

namespace hourglass {

/// What people may ask of a run.
enum class Order : std::uint8_t {
  pause,       ///< no further batch is handed out; what is under way ends
  resume,      ///< batches are handed out again
  checkpoint,  ///< one now
  stop,        ///< as a stop signal to the aggregator: the run is saved and ends, and can be resumed
};
inline constexpr Order kLastOrder = Order::stop;
std::string_view name_of(Order order);

/// Monitor -> aggregator, repeated until it is answered. A monitor's commands are numbered from 1; one that was carried out is only
/// answered again.
struct RunCommand {
  static constexpr MessageType kType = MessageType::run_command;
  std::uint32_t generation = 0;
  std::uint64_t sequence = 0;
  Order order = Order::pause;

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.number(m.generation);
    v.number(m.sequence);
    v.choice(m.order, kLastOrder);
  }
};

}  // namespace hourglass
