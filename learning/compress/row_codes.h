// SPDX-License-Identifier: Apache-2.0
// A row of floats as codes of 8, 6 or 4 bits with an affine scale of its own, rounded stochastically: E[decoded] = value.
// low = the row's smallest value, step = (largest - low) / (2^bits - 1) rounded up, code = floor((value - low) / step + u), u uniform in
// [0, 1) from a hash of a key and the position. Encoder and decoder use + - * / only, so every host makes the same bits.
#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "base/result.h"

namespace hourglass::compress {

struct RowScale {
  float low = 0;
  float step = 0;
};
inline constexpr std::size_t kRowScaleBytes = 8;

inline constexpr std::size_t packed_bytes(std::size_t count, unsigned bits) { return (count * bits + 7) / 8; }

/// One byte a code, unpacked. Returns the row's scale; a constant row has step 0 and no use for codes (all 0), a row that is not finite
/// gets a scale that check_scale() refuses. `codes`: as many as values.
RowScale quantize_row(std::span<const float> row, unsigned bits, std::uint64_t key, std::byte* codes);
void dequantize_row(const std::byte* codes, RowScale scale, unsigned bits, std::span<float> row);
/// Errors: bad_data for a scale that is not finite, malformed for a negative step.
Status check_scale(RowScale scale);

/// Codes of one byte to codes of `bits` (8, 6, 4), side by side from the low bit.
Bytes pack_codes(Bytes codes, unsigned bits);
/// One byte a code; `out` has `count`.
void unpack_codes(std::span<const std::byte> packed, unsigned bits, std::size_t count, std::byte* out);
/// Whether the bits behind the last code are 0.
bool padding_is_zero(std::span<const std::byte> packed, unsigned bits, std::size_t count);

}  // namespace hourglass::compress
