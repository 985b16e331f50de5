// SPDX-License-Identifier: Apache-2.0
#include "messages/run_phase.h"

#include <array>

namespace hourglass {

std::string_view name_of(Phase phase) {
  static constexpr std::array<std::string_view, 7> kNames = {"waiting",    "training", "flushing", "collecting",
                                                             "evaluating", "finished", "pausing"};
  return kNames[static_cast<std::size_t>(phase) % kNames.size()];
}

}  // namespace hourglass
