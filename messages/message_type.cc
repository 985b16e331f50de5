// SPDX-License-Identifier: Apache-2.0
#include "messages/message_type.h"

#include <array>

namespace hourglass {

std::string_view name_of(Traffic traffic) {
  static constexpr std::array<std::string_view, kTraffics> kNames = {
      "batch",   "activations", "activation_gradients", "push_conv", "push_fc", "update_conv", "update_fc", "snapshot", "metrics",
      "control", "evaluation"};
  return kNames[static_cast<std::size_t>(traffic) % kTraffics];
}

std::string_view name_of(Group group) { return group == Group::conv ? "conv" : "fc"; }

}  // namespace hourglass
