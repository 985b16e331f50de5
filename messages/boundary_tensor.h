// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "messages/fields.h"

namespace hourglass {

enum class BoundaryCodec : std::uint8_t { f32, bf16, u8 };
inline constexpr BoundaryCodec kLastBoundaryCodec = BoundaryCodec::u8;

/// Activations, or their gradients, at the cut: rows x columns, one row a sample, row-major. `u8`: per row two f32 (minimum, step)
/// in `scales`, then one byte a value, value = minimum + step * byte. Never under error feedback.
struct BoundaryTensor {
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  BoundaryCodec codec = BoundaryCodec::f32;
  Bytes scales;  ///< u8 only: rows x 8 bytes
  Bytes values;

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.number(m.rows, 0, limits::kBatchSamples);
    v.number(m.columns, 0, 1U << 24);
    v.choice(m.codec, kLastBoundaryCodec);
    v.blob(m.scales, limits::kBatchSamples * 8);
    v.blob(m.values, limits::kBodyBytes);
  }
};

}  // namespace hourglass
