// SPDX-License-Identifier: Apache-2.0
// Compiled once per processor level, so it calls no inline function of any header: the linker might keep the wrong level's copy.
#include "learning/compress/kernels.h"

#include <cstring>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace hourglass::compress::HG_KERNEL_NAMESPACE {
extern const Kernels kTable;
namespace {

constexpr std::uint32_t kMagnitude = 0x7fffffffU;
constexpr std::uint32_t kInfinity = 0x7f800000U;
constexpr std::size_t kLanes = 8;

std::uint32_t bits_of(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
float float_of(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
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

bool add(const float* a, const float* b, float* sum, std::size_t count) {
  std::uint32_t bad = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const float value = a[i] + b[i];
    sum[i] = value;
    bad |= static_cast<std::uint32_t>((bits_of(value) & kInfinity) == kInfinity);
  }
  return bad == 0;
}

/// Entries [begin, count) one at a time; capacity is looked at every 32.
template <bool kAdd>
Compacted compact_from(std::size_t begin, Compacted state, const float* a, const float* b, float* sum, std::size_t count, std::uint32_t at_least,
                       std::uint32_t* indices, float* kept, std::size_t capacity) {
  std::size_t found = state.count;
  std::uint32_t bad = state.finite ? 0 : 1;
  std::size_t i = begin;
  while (i < count && found <= capacity) {
    const std::size_t end = count - i < 32 ? count : i + 32;
    for (; i < end; ++i) {
      float value = a[i];
      if constexpr (kAdd) {
        value += b[i];
        sum[i] = value;
      }
      const std::uint32_t magnitude = bits_of(value) & kMagnitude;
      indices[found] = static_cast<std::uint32_t>(i);
      kept[found] = value;
      found += static_cast<std::size_t>(magnitude >= at_least);
      bad |= static_cast<std::uint32_t>(magnitude >= kInfinity);
    }
  }
  if constexpr (kAdd) {
    if (i < count && !add(a + i, b + i, sum + i, count - i)) bad = 1;
  }
  return {found, bad == 0};
}

#if defined(__AVX2__)
/// For each mask of 8 lanes, the lanes to be moved to the front.
struct MoveTable {
  std::uint32_t lanes[256][8];
  constexpr MoveTable() : lanes() {
    for (int mask = 0; mask < 256; ++mask) {
      int next = 0;
      for (std::uint32_t lane = 0; lane < 8; ++lane) {
        if ((mask >> lane & 1) != 0) lanes[mask][next++] = lane;
      }
    }
  }
};
alignas(32) constexpr MoveTable kMove;

/// One compaction under way, 32 entries at a time.
template <bool kAdd>
struct Compaction {
  const float* a;
  const float* b;
  float* sum;
  std::uint32_t* indices;
  float* kept;
  __m256i below;
  std::size_t found = 0;
  __m256i bad = _mm256_setzero_si256();

  template <bool kSkipEmpty>
  void take_32(std::size_t i) {
    const __m256i ramp = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i magnitude_mask = _mm256_set1_epi32(static_cast<int>(kMagnitude));
    const __m256i largest = _mm256_set1_epi32(static_cast<int>(kInfinity - 1));
    __m256 value[4];
    __m256i keep[4];
    __m256i any = _mm256_setzero_si256();
    for (int j = 0; j < 4; ++j) {
      value[j] = _mm256_loadu_ps(a + i + 8 * j);
      if constexpr (kAdd) {
        value[j] = _mm256_add_ps(value[j], _mm256_loadu_ps(b + i + 8 * j));
        _mm256_storeu_ps(sum + i + 8 * j, value[j]);
      }
      const __m256i magnitude = _mm256_and_si256(_mm256_castps_si256(value[j]), magnitude_mask);
      keep[j] = _mm256_cmpgt_epi32(magnitude, below);
      any = _mm256_or_si256(any, keep[j]);
      if constexpr (kAdd) bad = _mm256_or_si256(bad, _mm256_cmpgt_epi32(magnitude, largest));
    }
    if (kSkipEmpty && _mm256_testz_si256(any, any) != 0) return;
    for (int j = 0; j < 4; ++j) {
      const int mask = _mm256_movemask_ps(_mm256_castsi256_ps(keep[j]));
      const __m256i move = _mm256_load_si256(reinterpret_cast<const __m256i*>(kMove.lanes[mask]));
      const __m256i at = _mm256_add_epi32(ramp, _mm256_set1_epi32(static_cast<int>(i) + 8 * j));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(indices + found), _mm256_permutevar8x32_epi32(at, move));
      _mm256_storeu_ps(kept + found, _mm256_permutevar8x32_ps(value[j], move));
      found += static_cast<std::size_t>(__builtin_popcount(static_cast<unsigned>(mask)));
    }
  }
};

template <bool kAdd>
Compacted compact_all(const float* a, const float* b, float* sum, std::size_t count, std::uint32_t at_least, std::uint32_t* indices, float* kept,
                      std::size_t capacity) {
  constexpr std::size_t kBlock = 1024;
  constexpr std::size_t kCrowded = kBlock / 128;  // from here on a branch around empty groups is guessed wrong too often
  Compaction<kAdd> run{a, b, sum, indices, kept, _mm256_set1_epi32(static_cast<int>(at_least - 1))};
  std::size_t i = 0;
  std::size_t last = 0;
  while (i + 32 <= count && run.found <= capacity) {
    const std::size_t end = count - i < kBlock ? count : i + kBlock;
    const std::size_t before = run.found;
    if (last >= kCrowded) {
      for (; i + 32 <= end && run.found <= capacity; i += 32) run.template take_32<false>(i);
    } else {
      for (; i + 32 <= end && run.found <= capacity; i += 32) run.template take_32<true>(i);
    }
    last = run.found - before;
  }
  const bool good = _mm256_testz_si256(run.bad, run.bad) != 0;
  return compact_from<kAdd>(i, {run.found, good}, a, b, sum, count, at_least, indices, kept, capacity);
}
#else
template <bool kAdd>
Compacted compact_all(const float* a, const float* b, float* sum, std::size_t count, std::uint32_t at_least, std::uint32_t* indices, float* kept,
                      std::size_t capacity) {
  return compact_from<kAdd>(0, {}, a, b, sum, count, at_least, indices, kept, capacity);
}
#endif

Compacted compact(const float* values, std::size_t count, std::uint32_t at_least, std::uint32_t* indices, float* kept, std::size_t capacity) {
  return compact_all<false>(values, nullptr, nullptr, count, at_least, indices, kept, capacity);
}

Compacted add_compact(const float* a, const float* b, float* sum, std::size_t count, std::uint32_t at_least, std::uint32_t* indices, float* kept,
                      std::size_t capacity) {
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

float widened(const std::byte* values, std::size_t index) { return float_of(static_cast<std::uint32_t>(load<std::uint16_t>(values, index)) << 16); }

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
    const bool above = magnitude > boundary;
    (above ? high_lanes : low_lanes)[i % kLanes] += magnitude;
    sums.high_count += static_cast<std::size_t>(above);
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

const Kernels kTable = {finite, largest_magnitude,     add,         compact,      add_compact, sum_of_squares, to_bf16,       from_bf16, finite_bf16,  finite_f32,
                        add_f32,     add_bf16,    add_two_bits, magnitudes,  level_sums,     pack_two_bits, count_ones, expand_ones, row_range, quantize_row, dequantize_row};

}  // namespace hourglass::compress::HG_KERNEL_NAMESPACE
