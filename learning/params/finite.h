// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <span>

namespace hourglass::params {

/// True where no value is infinite or NaN. One pass at memory speed: the exponents are or-ed, not branched on.
inline bool all_finite(std::span<const float> values) {
  std::uint32_t bad = 0;
  for (const float value : values) bad |= static_cast<std::uint32_t>((std::bit_cast<std::uint32_t>(value) & 0x7f800000U) == 0x7f800000U);
  return bad == 0;
}

}  // namespace hourglass::params
