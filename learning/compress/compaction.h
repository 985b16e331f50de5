// SPDX-License-Identifier: Apache-2.0
// Part of kernels.cc alone: adding two vectors, and gathering the entries that reach a magnitude.
#pragma once

#include <cstring>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "learning/compress/kernels.h"

namespace hourglass::compress::HG_KERNEL_NAMESPACE {
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
Compacted compact_from(std::size_t begin, Compacted state, const float* a, const float* b, float* sum, std::size_t count,
                       std::uint32_t at_least, std::uint32_t* indices, float* kept, std::size_t capacity) {
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
Compacted compact_all(const float* a, const float* b, float* sum, std::size_t count, std::uint32_t at_least, std::uint32_t* indices,
                      float* kept, std::size_t capacity) {
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
Compacted compact_all(const float* a, const float* b, float* sum, std::size_t count, std::uint32_t at_least, std::uint32_t* indices,
                      float* kept, std::size_t capacity) {
  return compact_from<kAdd>(0, {}, a, b, sum, count, at_least, indices, kept, capacity);
}
#endif

}  // namespace
}  // namespace hourglass::compress::HG_KERNEL_NAMESPACE
