// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace hourglass::compress {

inline constexpr double kRatioLeast = 1e-9;  ///< selectors send one entry at least

/// How a range lies in memory: row-major, `length / columns` rows. A vector is one row.
struct Shape {
  std::size_t length = 0;
  std::size_t columns = 0;  ///< divides length; 0 only where length is 0

  static Shape vector(std::size_t length) { return {length, length}; }
  [[nodiscard]] std::size_t rows() const { return columns == 0 ? 0 : length / columns; }
};

}  // namespace hourglass::compress
