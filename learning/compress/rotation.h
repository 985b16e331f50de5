// SPDX-License-Identifier: Apache-2.0
// Part of kernels.cc alone: the Walsh-Hadamard transform with random signs, and one bit an element.
#pragma once

#include "learning/compress/compaction.h"

namespace hourglass::compress::HG_KERNEL_NAMESPACE {
namespace {

/// Signs for 64 elements.
std::uint64_t sign_word(std::uint64_t key, std::uint64_t word) {
  std::uint64_t hash = key + (word + 1) * 0x9e3779b97f4a7c15U;
  hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9U;
  hash = (hash ^ hash >> 27) * 0x94d049bb133111ebU;
  return hash ^ hash >> 31;
}

void flip_signs(const float* values, std::size_t count, std::uint64_t key, float scale, float* out) {
  for (std::size_t i = 0; i < count; i += 32) {
    const auto signs = static_cast<std::uint32_t>(sign_word(key, i / 64) >> (i % 64));
    const std::size_t here = count - i < 32 ? count - i : 32;
    for (std::uint32_t j = 0; j < here; ++j) out[i + j] = float_of(bits_of(values[i + j] * scale) ^ (signs >> j) << 31);
  }
}

/// The three stages within eight neighbours.
void hadamard_eights(float* values, std::size_t count) {
#if defined(__AVX2__)
  const __m256 odd = _mm256_castsi256_ps(_mm256_set1_epi64x(static_cast<long long>(0x8000000000000000ULL)));
  const __m256 second = _mm256_castsi256_ps(_mm256_setr_epi32(0, 0, INT32_MIN, INT32_MIN, 0, 0, INT32_MIN, INT32_MIN));
  const __m256 upper = _mm256_castsi256_ps(_mm256_setr_epi32(0, 0, 0, 0, INT32_MIN, INT32_MIN, INT32_MIN, INT32_MIN));
  for (std::size_t i = 0; i + 8 <= count; i += 8) {
    __m256 x = _mm256_loadu_ps(values + i);
    x = _mm256_add_ps(_mm256_permute_ps(x, 0xb1), _mm256_xor_ps(x, odd));
    x = _mm256_add_ps(_mm256_permute_ps(x, 0x4e), _mm256_xor_ps(x, second));
    x = _mm256_add_ps(_mm256_permute2f128_ps(x, x, 1), _mm256_xor_ps(x, upper));
    _mm256_storeu_ps(values + i, x);
  }
#else
  for (std::size_t i = 0; i + 8 <= count; i += 8) {
    float* x = values + i;
    for (std::size_t half = 1; half < 8; half *= 2) {
      for (std::size_t j = 0; j < 8; ++j) {
        if ((j & half) != 0) continue;
        const float a = x[j];
        const float b = x[j + half];
        x[j] = a + b;
        x[j + half] = a - b;
      }
    }
  }
#endif
}

void hadamard(float* values, std::size_t count) {
  hadamard_eights(values, count);
  std::size_t half = 8;
  for (; half * 4 <= count; half *= 4) {  // two stages in one pass over memory
    for (std::size_t i = 0; i < count; i += 4 * half) {
      float* x = values + i;
      for (std::size_t j = 0; j < half; ++j) {
        const float ab = x[j] + x[j + half];
        const float a_b = x[j] - x[j + half];
        const float cd = x[j + 2 * half] + x[j + 3 * half];
        const float c_d = x[j + 2 * half] - x[j + 3 * half];
        x[j] = ab + cd;
        x[j + half] = a_b + c_d;
        x[j + 2 * half] = ab - cd;
        x[j + 3 * half] = a_b - c_d;
      }
    }
  }
  if (half * 2 > count) return;
  for (std::size_t j = 0; j < half; ++j) {
    const float a = values[j];
    const float b = values[j + half];
    values[j] = a + b;
    values[j + half] = a - b;
  }
}

void pack_signs(const float* values, std::size_t count, float dither, std::uint64_t key, std::byte* out) {
  const auto first = static_cast<std::uint32_t>(key);
  const auto second = static_cast<std::uint32_t>(key >> 32);
  std::uint32_t signs[64];
  for (std::size_t i = 0; i < count; i += 64) {
    const std::size_t here = count - i < 64 ? count - i : 64;
    for (std::size_t j = 0; j < here; ++j) {
      std::uint32_t hash = static_cast<std::uint32_t>(i + j) + first;
      hash = (hash ^ hash >> 16) * 0x7feb352dU;
      hash = ((hash ^ hash >> 15) + second) * 0x846ca68bU;
      hash ^= hash >> 16;
      const float uniform = static_cast<float>(static_cast<std::int32_t>(hash >> 8)) * 0x1p-23F - 1.0F;
      signs[j] = (bits_of(values[i + j] + dither * uniform) >> 31) ^ 1U;
    }
    for (std::size_t j = 0; j < here; j += 8) {
      std::uint32_t byte = 0;
      for (std::uint32_t bit = 0; bit < 8; ++bit) byte |= signs[j + bit] << bit;
      out[(i + j) / 8] = static_cast<std::byte>(byte);
    }
  }
}

void unpack_signs(const std::byte* bits, std::size_t count, float* out) {
  for (std::size_t i = 0; i < count; i += 8) {
    const std::uint32_t minus = ~static_cast<std::uint32_t>(bits[i / 8]);
    for (std::uint32_t j = 0; j < 8; ++j) out[i + j] = float_of((minus >> j) << 31 | 0x3f800000U);
  }
}

}  // namespace
}  // namespace hourglass::compress::HG_KERNEL_NAMESPACE
