// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "messages/fields.h"

namespace hourglass {

/// none: every entry of the range, in order.
enum class IndexCodec : std::uint8_t { none, raw, bitmap, rice, elias_fano, varint, chunk12, bloom };
/// From `hadamard` on: the blob describes the whole range, and there are no indices.
enum class ValueCodec : std::uint8_t {
  f32,
  bf16,
  two_level,
  f16,
  u8,
  qsgd,
  natural,
  mxnet_two_bit,
  mean,
  terngrad,
  sign,
  curve,
  hadamard,
  count_sketch,
  measured,
  low_rank,
  factors
};
inline constexpr IndexCodec kLastIndexCodec = IndexCodec::bloom;
inline constexpr ValueCodec kLastValueCodec = ValueCodec::factors;

/// What is to be added to the range [offset, offset + length) of a parameter group's flat vector. It describes itself: a
/// receiver needs no knowledge of the compressor that made it. Blob layouts, all little-endian and packed from the low bit:
///   raw        count x u32, ascending, relative to offset
///   bitmap     ceil(length / 8) bytes, exactly `count` ones
///   rice       gaps (index - previous - 1, the first previous being -1) with parameter `rice_bits` b: gap >> b ones, a zero,
///              then the b low bits; zero-padded to a byte
///   f32, bf16  count values (bf16: the upper 16 bits of f32, round to nearest even)
///   two_level  2 bits a value: bit 0 = level, bit 1 = sign; levels are the magnitudes `low` <= `high`
/// Every other codec tells its layout in its header under learning/compress, and keeps its parameters in its blob.
/// Source: Golomb-Rice coding of gaps as in STC (1903.02891); two Lloyd levels see docs of the compressor.
struct GradientBlock {
  std::uint64_t offset = 0;  ///< in the group's flat vector
  std::uint64_t length = 0;  ///< of the range
  std::uint64_t count = 0;   ///< entries in the block, <= length; == length where the index codec is none
  IndexCodec index_codec = IndexCodec::none;
  ValueCodec value_codec = ValueCodec::f32;
  std::uint8_t rice_bits = 0;
  float low = 0;  ///< levels of two_level, else 0
  float high = 0;
  Bytes indices;
  Bytes values;

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.number(m.offset, 0, limits::kParameters);
    v.number(m.length, 0, limits::kParameters);
    v.number(m.count, 0, limits::kParameters);
    v.choice(m.index_codec, kLastIndexCodec);
    v.choice(m.value_codec, kLastValueCodec);
    v.number(m.rice_bits, 0, 31);
    v.real(m.low);
    v.real(m.high);
    v.blob(m.indices, limits::kBodyBytes);
    v.blob(m.values, limits::kBodyBytes);
  }
};

}  // namespace hourglass
