// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "messages/fields.h"

namespace hourglass {

/// How a value is written. u8, u6, u4: codes of so many bits, an affine scale for each row.
enum class BoundaryCodec : std::uint8_t { f32, bf16, u8, u6, u4 };
inline constexpr BoundaryCodec kLastBoundaryCodec = BoundaryCodec::u4;

/// Which entries have a value; the others are 0. all: every one, and `places` is empty.
enum class BoundaryPlaces : std::uint8_t { all, bitmap, rice };
inline constexpr BoundaryPlaces kLastBoundaryPlaces = BoundaryPlaces::rice;

/// Activations, or their gradients, at the cut: rows x columns, one row a sample, row-major. Blobs are little-endian, packed from the low
/// bit, zero-padded to a byte, and run on from row to row:
///   scales   u8, u6, u4: per row two f32 (low, step), value = low + step * code; rows without values have two zeros
///   places   bitmap: rows * columns bits, `count` ones. rice: a byte b <= 31, then the positions' gaps as in GradientBlock
///   values   `count` values, 32, 16, 8, 6 or 4 bits each, in the order of their positions
/// Never under error feedback.
struct BoundaryTensor {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  BoundaryCodec codec = BoundaryCodec::f32;
  BoundaryPlaces kept = BoundaryPlaces::all;
  std::uint32_t count = 0;  ///< values; rows * columns where all are kept
  Bytes scales;
  Bytes places;
  Bytes values;

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.number(m.rows, 0, limits::kBatchSamples);
    v.number(m.columns, 0, 1U << 24);
    v.choice(m.codec, kLastBoundaryCodec);
    v.choice(m.kept, kLastBoundaryPlaces);
    v.number(m.count, 0, limits::kParameters);
    v.blob(m.scales, limits::kBatchSamples * 8);
    v.blob(m.places, limits::kBodyBytes);
    v.blob(m.values, limits::kBodyBytes);
  }
};

}  // namespace hourglass
