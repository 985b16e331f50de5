// SPDX-License-Identifier: Apache-2.0
// Compiled once per processor level, so it calls no inline function of any header: the linker might keep the wrong level's copy.
#include "learning/compress/kernels.h"

#include "learning/compress/compaction.h"
#include "learning/compress/products.h"
#include "learning/compress/rice_kernels.h"
#include "learning/compress/rotation.h"
#include "learning/compress/tail.h"

namespace hourglass::compress::HG_KERNEL_NAMESPACE {
extern const Kernels kTable;
namespace {

template <class T>
T load(const std::byte* from, std::size_t index) {
  T value;
  std::memcpy(&value, from + index * sizeof(T), sizeof(T));
  return value;
}

bool finite_f32(const std::byte* values, std::size_t count) {
  std::uint32_t bad = 0;
  for (std::size_t i = 0; i < count; ++i) bad |= static_cast<std::uint32_t>((load<std::uint32_t>(values, i) & kInfinity) == kInfinity);
  return bad == 0;
}

float largest_magnitude(const float* values, std::size_t count) {
  std::int32_t largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto magnitude = static_cast<std::int32_t>(bits_of(values[i]) & kMagnitude);
    largest = magnitude > largest ? magnitude : largest;
  }
  return float_of(static_cast<std::uint32_t>(largest));
}

bool finite(const float* values, std::size_t count) { return finite_f32(reinterpret_cast<const std::byte*>(values), count); }

Compacted compact(const float* values, std::size_t count, std::uint32_t at_least, std::uint32_t* indices, float* kept,
                  std::size_t capacity) {
  return compact_all<false>(values, nullptr, nullptr, count, at_least, indices, kept, capacity);
}

Compacted add_compact(const float* a, const float* b, float* sum, std::size_t count, std::uint32_t at_least, std::uint32_t* indices,
                      float* kept, std::size_t capacity) {
  return compact_all<true>(a, b, sum, count, at_least, indices, kept, capacity);
}

double sum_of_squares(const float* values, std::size_t count) {
  double lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const double value = values[i + lane];
      lanes[lane] += value * value;
    }
  }
  for (; i < count; ++i) lanes[i % kLanes] += static_cast<double>(values[i]) * values[i];
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

void to_bf16(const float* values, std::byte* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t bits = bits_of(values[i]);
    const std::uint32_t magnitude = bits & kMagnitude;
    std::uint32_t rounded = (magnitude + 0x7fffU + (magnitude >> 16 & 1U)) >> 16;
    rounded = rounded > 0x7f7fU ? 0x7f7fU : rounded;
    const std::uint32_t special = magnitude >> 16 | (magnitude > kInfinity ? 0x40U : 0U);
    rounded = magnitude >= kInfinity ? special : rounded;
    const auto half = static_cast<std::uint16_t>(rounded | (bits >> 16 & 0x8000U));
    std::memcpy(out + 2 * i, &half, sizeof half);
  }
}

float widened(const std::byte* values, std::size_t index) {
  return float_of(static_cast<std::uint32_t>(load<std::uint16_t>(values, index)) << 16);
}

void from_bf16(const std::byte* values, float* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = widened(values, i);
}

bool finite_bf16(const std::byte* values, std::size_t count) {
  std::uint16_t bad = 0;
  for (std::size_t i = 0; i < count; ++i) bad |= static_cast<std::uint16_t>((load<std::uint16_t>(values, i) & 0x7f80U) == 0x7f80U);
  return bad == 0;
}

void add_f32(const std::byte* values, float* sum, std::size_t count, float weight) {
  for (std::size_t i = 0; i < count; ++i) sum[i] += weight * load<float>(values, i);
}

void add_bf16(const std::byte* values, float* sum, std::size_t count, float weight) {
  for (std::size_t i = 0; i < count; ++i) sum[i] += weight * widened(values, i);
}

void add_two_bits(const std::byte* codes, const float* table, float* sum, std::size_t count) {
  float four[256][4];
  const std::size_t whole = count / 4;
  if (whole >= 256) {
    for (unsigned code = 0; code < 256; ++code) {
      for (unsigned j = 0; j < 4; ++j) four[code][j] = table[code >> (2 * j) & 3U];
    }
    for (std::size_t i = 0; i < whole; ++i) {
      const float* add_these = four[static_cast<unsigned>(codes[i])];
      for (std::size_t j = 0; j < 4; ++j) sum[4 * i + j] += add_these[j];
    }
  }
  for (std::size_t i = whole >= 256 ? 4 * whole : 0; i < count; ++i) {
    sum[i] += table[static_cast<unsigned>(codes[i / 4]) >> (2 * (i % 4)) & 3U];
  }
}

MagnitudeRange magnitudes(const float* values, std::size_t count) {
  auto low = static_cast<std::int32_t>(kMagnitude);
  std::int32_t high = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto magnitude = static_cast<std::int32_t>(bits_of(values[i]) & kMagnitude);
    low = magnitude < low ? magnitude : low;
    high = magnitude > high ? magnitude : high;
  }
  return {float_of(static_cast<std::uint32_t>(low)), float_of(static_cast<std::uint32_t>(high))};
}

#if defined(__AVX2__)
LevelSums level_sums(const float* values, std::size_t count, float boundary) {
  const __m256 magnitude_mask = _mm256_castsi256_ps(_mm256_set1_epi32(static_cast<int>(kMagnitude)));
  const __m256 limit = _mm256_set1_ps(boundary);
  __m256d low[2] = {_mm256_setzero_pd(), _mm256_setzero_pd()};
  __m256d high[2] = {_mm256_setzero_pd(), _mm256_setzero_pd()};
  __m256i above_count = _mm256_setzero_si256();  // wraps after 2^31 per lane: more than a block may hold
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const __m256 magnitude = _mm256_and_ps(_mm256_loadu_ps(values + i), magnitude_mask);
    const __m256 above = _mm256_cmp_ps(magnitude, limit, _CMP_GT_OQ);
    const __m256 high_part = _mm256_and_ps(magnitude, above);
    const __m256 low_part = _mm256_andnot_ps(above, magnitude);
    low[0] = _mm256_add_pd(low[0], _mm256_cvtps_pd(_mm256_castps256_ps128(low_part)));
    low[1] = _mm256_add_pd(low[1], _mm256_cvtps_pd(_mm256_extractf128_ps(low_part, 1)));
    high[0] = _mm256_add_pd(high[0], _mm256_cvtps_pd(_mm256_castps256_ps128(high_part)));
    high[1] = _mm256_add_pd(high[1], _mm256_cvtps_pd(_mm256_extractf128_ps(high_part, 1)));
    above_count = _mm256_sub_epi32(above_count, _mm256_castps_si256(above));
  }
  double low_lanes[kLanes];
  double high_lanes[kLanes];
  std::int32_t count_lanes[kLanes];
  for (int j = 0; j < 2; ++j) {
    _mm256_storeu_pd(low_lanes + 4 * j, low[j]);
    _mm256_storeu_pd(high_lanes + 4 * j, high[j]);
  }
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(count_lanes), above_count);
  LevelSums sums;
  for (std::size_t lane = 0; lane < kLanes; ++lane) sums.high_count += static_cast<std::size_t>(count_lanes[lane]);
#else
LevelSums level_sums(const float* values, std::size_t count, float boundary) {
  double low_lanes[kLanes] = {};
  double high_lanes[kLanes] = {};
  LevelSums sums;
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const float magnitude = float_of(bits_of(values[i + lane]) & kMagnitude);
      const bool above = magnitude > boundary;
      high_lanes[lane] += above ? magnitude : 0.0F;
      low_lanes[lane] += above ? 0.0F : magnitude;
      sums.high_count += static_cast<std::size_t>(above);
    }
  }
#endif
  for (; i < count; ++i) {
    const float magnitude = float_of(bits_of(values[i]) & kMagnitude);
    const std::size_t lane = i % kLanes;
    if (magnitude > boundary) {
      high_lanes[lane] += magnitude;
      ++sums.high_count;
    } else {
      low_lanes[lane] += magnitude;
    }
  }
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    sums.low += low_lanes[lane];
    sums.high += high_lanes[lane];
  }
  return sums;
}

void pack_two_bits(const float* values, std::size_t count, float boundary, std::byte* out) {
  std::size_t i = 0;
#if defined(__AVX2__)
  const __m256 magnitude_mask = _mm256_castsi256_ps(_mm256_set1_epi32(static_cast<int>(kMagnitude)));
  const __m256 limit = _mm256_set1_ps(boundary);
  for (; i + 8 <= count; i += 8) {
    const __m256 value = _mm256_loadu_ps(values + i);
    const __m256 above = _mm256_cmp_ps(_mm256_and_ps(value, magnitude_mask), limit, _CMP_GT_OQ);
    const auto levels = static_cast<unsigned>(_mm256_movemask_ps(above));
    const auto signs = static_cast<unsigned>(_mm256_movemask_ps(value));
    const auto codes = static_cast<std::uint16_t>(_pdep_u32(levels, 0x5555U) | _pdep_u32(signs, 0xaaaaU));
    std::memcpy(out + i / 4, &codes, sizeof codes);
  }
#endif
  for (; i < count; i += 4) {
    unsigned codes = 0;
    for (std::size_t j = 0; j < 4 && i + j < count; ++j) {
      const std::uint32_t bits = bits_of(values[i + j]);
      const unsigned level = float_of(bits & kMagnitude) > boundary ? 1 : 0;
      codes |= (level | (bits >> 31) << 1) << (2 * j);
    }
    out[i / 4] = static_cast<std::byte>(codes);
  }
}

std::uint64_t word_at(const std::byte* bits, std::size_t bytes, std::size_t at) {
  std::uint64_t word = 0;
  if (bytes - at >= 8) {
    std::memcpy(&word, bits + at, 8);
  } else {
    std::memcpy(&word, bits + at, bytes - at);
  }
  return word;
}

std::size_t count_ones(const std::byte* bits, std::size_t bytes) {
  std::size_t ones = 0;
  for (std::size_t at = 0; at < bytes; at += 8) ones += static_cast<std::size_t>(__builtin_popcountll(word_at(bits, bytes, at)));
  return ones;
}

/// Two slots are written whether or not the word has two ones: a branch for each would be guessed wrong too often.
void expand_ones(const std::byte* bits, std::size_t bytes, std::uint32_t* positions) {
  for (std::size_t at = 0; at < bytes; at += 8) {
    std::uint64_t word = word_at(bits, bytes, at);
    if (word == 0) continue;
    const auto first = static_cast<std::uint32_t>(at * 8);
    std::uint32_t* end = positions + __builtin_popcountll(word);
    do {
      for (int j = 0; j < 2; ++j) {
        positions[j] = first + (word == 0 ? 0U : static_cast<std::uint32_t>(__builtin_ctzll(word)));
        word &= word - 1;
      }
      positions += 2;
    } while (positions < end);
    positions = end;
  }
}

/// Floats as integers of the same order, so that minimum and maximum need no care for NaN and vectorise. Its own inverse.
std::int32_t ordered(std::int32_t bits) { return bits ^ static_cast<std::int32_t>(static_cast<std::uint32_t>(bits >> 31) & kMagnitude); }

RowRange row_range(const float* values, std::size_t count) {
  std::int32_t low = INT32_MAX;
  std::int32_t high = INT32_MIN;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int32_t key = ordered(static_cast<std::int32_t>(bits_of(values[i])));
    low = key < low ? key : low;
    high = key > high ? key : high;
  }
  const auto low_bits = static_cast<std::uint32_t>(ordered(low));
  const auto high_bits = static_cast<std::uint32_t>(ordered(high));
  // NaN and infinities lie at the two ends of the order, so the extremes tell whether there is one.
  const bool good = (low_bits & kInfinity) != kInfinity && (high_bits & kInfinity) != kInfinity;
  return {float_of(low_bits), float_of(high_bits), good};
}

void quantize_row(const float* values, std::size_t count, float low, float inverse, std::uint64_t key, std::byte* out) {
  const auto first = static_cast<std::uint32_t>(key);
  const auto second = static_cast<std::uint32_t>(key >> 32);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t hash = static_cast<std::uint32_t>(i) + first;
    hash = (hash ^ hash >> 16) * 0x7feb352dU;
    hash = ((hash ^ hash >> 15) + second) * 0x846ca68bU;
    hash ^= hash >> 16;
    const float uniform = static_cast<float>(static_cast<std::int32_t>(hash >> 8)) * 0x1p-24F;
    const auto code = static_cast<std::int32_t>((values[i] - low) * inverse + uniform);
    out[i] = static_cast<std::byte>(code > 255 ? 255 : code);
  }
}

void dequantize_row(const std::byte* codes, std::size_t count, float low, float step, float* out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = low + step * static_cast<float>(static_cast<std::int32_t>(codes[i]));
}

}  // namespace

const Kernels kTable = {finite,      largest_magnitude, add,        compact,      add_compact,    sum_of_squares, to_bf16,    from_bf16,
                        finite_bf16, finite_f32,        add_f32,    add_bf16,     add_two_bits,   magnitudes,     level_sums, pack_two_bits,
                        count_ones,  expand_ones,       row_range,  quantize_row, dequantize_row, tail_moments,   log_sum,    gap_sums,
                        rice_encode, rice_decode,       flip_signs, hadamard,     pack_signs,     unpack_signs,   dot,        add_outer};

}  // namespace hourglass::compress::HG_KERNEL_NAMESPACE
