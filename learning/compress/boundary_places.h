// SPDX-License-Identifier: Apache-2.0
// Which entries of a boundary tensor travel, and how their places are written.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "learning/compress/boundary.h"

namespace hourglass::compress {

/// Positions in the tensor, ascending, and what is sent for them.
struct BoundaryEntries {
  std::vector<std::uint32_t> positions;
  std::vector<float> values;
};
/// spec.keep is not `all`. What is not finite is kept as it is: the receiver refuses it.
BoundaryEntries choose_entries(std::span<const float> values, std::size_t rows, std::size_t columns, const BoundarySpec& spec,
                               Random& random);

/// Sets kept, count and places: the smaller of the two codings.
void write_places(std::span<const std::uint32_t> positions, std::size_t size, BoundaryTensor& tensor);
/// Errors: malformed; `size` is rows x columns.
Status read_places(const BoundaryTensor& tensor, std::size_t size, std::vector<std::uint32_t>& positions);

}  // namespace hourglass::compress
