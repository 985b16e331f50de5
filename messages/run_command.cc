// SPDX-License-Identifier: Apache-2.0
#include "messages/run_command.h"

#include <array>

namespace hourglass {

std::string_view name_of(Order order) {
  static constexpr std::array<std::string_view, 4> kNames = {"pause", "resume", "checkpoint", "stop"};
  return kNames[static_cast<std::size_t>(order) % kNames.size()];
}

}  // namespace hourglass
