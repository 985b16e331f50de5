// SPDX-License-Identifier: Apache-2.0
// What a process that becomes a member again takes over from its earlier membership.
#pragma once

#include <cstdint>

namespace hourglass::params {

/// What the parent knows of a member's earlier pushes; see Welcome.
struct PushMarks {
  static constexpr std::uint64_t kRemembered = 64;
  std::uint64_t contained = 0;  ///< pushes below this clock are settled; later ones are void
  std::uint64_t rejected = 0;   ///< bit i: push contained - 1 - i was rejected

  [[nodiscard]] bool applied(std::uint64_t clock) const {
    if (clock >= contained) return false;
    const std::uint64_t age = contained - 1 - clock;
    return age >= kRemembered || ((rejected >> age) & 1U) == 0;
  }
};

struct Inheritance {
  std::uint64_t returned = 0;  ///< pushes whose content is in the residual again
  std::uint64_t lost = 0;      ///< pushes that went nowhere, as far as anybody can say
  bool kept_residual = true;
};

}  // namespace hourglass::params
