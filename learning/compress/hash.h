// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace hourglass::compress {

/// 64 well mixed bits (the finaliser of splitmix64).
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
  x = (x ^ x >> 27) * 0x94d049bb133111ebU;
  return x ^ x >> 31;
}

/// Uniform in [0, limit) from 32 uniform bits.
constexpr std::uint32_t below(std::uint32_t bits, std::uint32_t limit) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(bits) * limit >> 32);
}

}  // namespace hourglass::compress
