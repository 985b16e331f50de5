// SPDX-License-Identifier: Apache-2.0
#include "messages/push_verdict.h"

#include <array>

namespace hourglass {

std::string_view name_of(Verdict verdict) {
  static constexpr std::array<std::string_view, 6> kNames = {"applied", "stale", "nonfinite", "shape", "version", "moved"};
  return kNames[static_cast<std::size_t>(verdict) % kNames.size()];
}

}  // namespace hourglass
