// SPDX-License-Identifier: Apache-2.0
// Sums of signed values in hashed cells: one cell for each value where they are to be estimated, three (one in each third of the table)
// where they are to be peeled off exactly. Linear: the tables of two vectors, added cell by cell, are the table of their sum.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "learning/compress/hash.h"

namespace hourglass::compress {

/// Where an element of the range goes, by the sketch's key.
struct Place {
  std::uint32_t cells[3];
  bool negative;
};

/// In three sub-tables of `third` cells each.
inline Place place_in_thirds(std::uint64_t key, std::uint32_t index, std::uint32_t third) {
  const std::uint64_t a = mix(key ^ index * 0x9e3779b97f4a7c15U);
  const std::uint64_t b = mix(a);
  return {{below(static_cast<std::uint32_t>(a), third), third + below(static_cast<std::uint32_t>(a >> 32), third),
           2 * third + below(static_cast<std::uint32_t>(b), third)},
          b >> 63 != 0};
}
inline Place place_in_one(std::uint64_t key, std::uint32_t index, std::uint32_t cells) {
  const std::uint64_t a = mix(key ^ index * 0x9e3779b97f4a7c15U);
  return {{below(static_cast<std::uint32_t>(a), cells), 0, 0}, a >> 63 != 0};
}

/// `values` (of the elements `members`) into `cells`, whose number is a multiple of 3; sums wrap.
void add_to_cells(std::span<const std::uint32_t> members, std::span<const std::uint32_t> values, std::uint64_t key,
                  std::span<std::uint32_t> cells);

/// Takes a cell with but one unknown member, solves it, subtracts it, until none is left (as in an invertible Bloom lookup table). True
/// where all are known and, modulo 2^`bits`, every cell came to 0. Succeeds for 1.3 cells a member and more with few exceptions, never
/// below 1.2.
bool peel(std::span<const std::uint32_t> members, std::span<const std::uint32_t> cells, std::uint64_t key, unsigned bits,
          std::vector<std::uint32_t>& values);

}  // namespace hourglass::compress
