// SPDX-License-Identifier: Apache-2.0
// A count sketch in memory; the layout of its blob stands in count_sketch.h.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "messages/gradient_block.h"

namespace hourglass::compress {

enum class SketchForm : std::uint8_t { estimate, exact, integers };

struct Sketch {
  SketchForm form = SketchForm::exact;
  std::uint8_t cell_bytes = 4;
  std::int16_t exponent = 0;
  std::uint32_t cells = 0;  ///< of the table, also where the integers themselves are sent
  std::uint64_t key = 0;
  std::uint32_t unit = 1;
  std::size_t length = 0;             ///< of the range
  std::vector<std::uint32_t> units;   ///< ascending
  std::vector<std::uint32_t> values;  ///< cells (estimate: bits of floats), or the members' integers, modulo 2^(8 cell_bytes)

  /// Elements of the units.
  [[nodiscard]] std::size_t member_count() const;
  [[nodiscard]] std::vector<std::uint32_t> members() const;
  [[nodiscard]] std::int32_t integer(std::uint32_t value) const {
    return cell_bytes == 2 ? static_cast<std::int16_t>(value) : static_cast<std::int32_t>(value);
  }
};

inline constexpr int kExponentMin = -149;
inline constexpr int kExponentMax = 107;  ///< the largest float just below 2^21 steps

void write_sketch(const Sketch& sketch, GradientBlock& block);
/// Everything but what peeling tells. Memory is bounded by the blob and the range. Errors: malformed; bad_data for non-finite cells.
Result<Sketch> read_sketch(const GradientBlock& block);
/// The members' integers. Errors: malformed where the cells do not peel.
Result<std::vector<std::uint32_t>> integers_of(const Sketch& sketch, const std::vector<std::uint32_t>& members);

}  // namespace hourglass::compress
