// SPDX-License-Identifier: Apache-2.0
// The loops of the value codecs, compiled for any x86-64 and for x86-64-v3. Both give the same bits. Blobs need no alignment. Whatever is
// random is a hash of `key` and a value's position.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hourglass::compress {

/// Sums of the magnitudes on either side of 0; -0 counts as negative.
struct SideSums {
  double positive = 0;
  double negative = 0;
  std::size_t negative_count = 0;
};

/// x * up * inverse is a magnitude in levels. Two factors, so that neither leaves f32 where the largest magnitude is tiny.
struct ToLevels {
  float up = 1;
  float inverse = 0;
  float most = 0;  ///< the highest level
};

/// A code's value: weight * (scale * table[code]).
struct FromCodes {
  const float* table = nullptr;
  float scale = 1;
  float weight = 1;
};

/// A piece of a curve: low + width * clamp(polynomial(t), 0, 1), t from -1 to 1 over `count` points.
struct Piece {
  double coefficients[6] = {};
  double low = 0;
  double width = 0;
};

struct ValueKernels {
  /// Round to nearest even; what would round to infinity becomes the largest finite value.
  void (*to_f16)(const float* values, std::byte* out, std::size_t count);
  void (*add_f16)(const std::byte* values, float* sum, std::size_t count, float weight);
  void (*scatter_f16)(const std::byte* values, const std::uint32_t* indices, float* sum, std::size_t count, float weight);
  bool (*finite_f16)(const std::byte* values, std::size_t count);

  /// Codes of 1 to 8 bits, from the low bit.
  void (*pack_codes)(const std::uint8_t* codes, std::size_t count, unsigned bits, std::byte* out);
  void (*add_codes)(const std::byte* codes, unsigned bits, const FromCodes& from, float* sum, std::size_t count);
  void (*scatter_codes)(const std::byte* codes, unsigned bits, const FromCodes& from, const std::uint32_t* indices, float* sum,
                        std::size_t count);
  /// False where a code is above `most` once `mask` is applied.
  bool (*codes_within)(const std::byte* codes, unsigned bits, unsigned mask, unsigned most, std::size_t count);
  /// Codes 0, 1, 3 (0, +, -) to five digits a byte, and back through {0, +, -}.
  void (*pack_trits)(const std::uint8_t* codes, std::size_t count, std::byte* out);
  void (*add_trits)(const std::byte* trits, const float* table, float* sum, std::size_t count);
  void (*scatter_trits)(const std::byte* trits, const float* table, const std::uint32_t* indices, float* sum, std::size_t count);

  /// Level floor(|x| up inverse + u), u uniform in [0, 1), plus `sign_bit` where the value is negative and the level is not 0.
  void (*to_levels)(const float* values, std::size_t count, const ToLevels& how, unsigned sign_bit, std::uint64_t key,
                    std::uint32_t position, std::uint8_t* out);
  /// The same, rounded to nearest even.
  void (*to_nearest)(const float* values, std::size_t count, const ToLevels& how, unsigned sign_bit, std::uint8_t* out);
  /// Exponent fields after random rounding to one of the two powers of two around each magnitude; below 2^-126: to 0 or 2^-126. At most
  /// 254.
  void (*to_exponents)(const float* values, std::size_t count, std::uint64_t key, std::uint32_t position, std::uint8_t* out);
  /// sum += weight * (+-2^(exponent - 127)), 0 for exponent 0; `signs`: a bit each.
  void (*add_exponents)(const std::byte* exponents, const std::byte* signs, float* sum, std::size_t count, float weight);
  void (*scatter_exponents)(const std::byte* exponents, const std::byte* signs, const std::uint32_t* indices, float* sum, std::size_t count,
                            float weight);
  void (*pack_signs)(const float* values, std::size_t count, std::byte* out);  ///< bit 1: negative, -0 too
  /// Codes of two bits: 3 where the value is >= threshold, 2 where it is <= -threshold, else 0.
  void (*pack_threshold)(const float* values, std::size_t count, float threshold, std::byte* out);
  SideSums (*side_sums)(const float* values, std::size_t count);
  void (*evaluate)(const Piece& piece, float* out, std::size_t count);
};

const ValueKernels& value_kernels();
const ValueKernels& baseline_value_kernels();

}  // namespace hourglass::compress
