// SPDX-License-Identifier: Apache-2.0
// Part of kernels.cc alone: moments of the magnitudes above a boundary, and the sum of their logarithms.
#pragma once

#include "learning/compress/compaction.h"

namespace hourglass::compress::HG_KERNEL_NAMESPACE {
namespace {

TailMoments tail_moments(const float* values, std::size_t count, float boundary) {
  double sums[kLanes] = {};
  double squares[kLanes] = {};
  TailMoments out;
  std::size_t i = 0;
#if defined(__AVX2__)
  const __m256 magnitude_mask = _mm256_castsi256_ps(_mm256_set1_epi32(static_cast<int>(kMagnitude)));
  const __m256 limit = _mm256_set1_ps(boundary);
  __m256d sum[2] = {_mm256_setzero_pd(), _mm256_setzero_pd()};
  __m256d square[2] = {_mm256_setzero_pd(), _mm256_setzero_pd()};
  __m256i above_count = _mm256_setzero_si256();
  for (; i + kLanes <= count; i += kLanes) {
    const __m256 magnitude = _mm256_and_ps(_mm256_loadu_ps(values + i), magnitude_mask);
    const __m256 above = _mm256_cmp_ps(magnitude, limit, _CMP_GT_OQ);
    const __m256 part = _mm256_and_ps(magnitude, above);
    const __m256d half[2] = {_mm256_cvtps_pd(_mm256_castps256_ps128(part)), _mm256_cvtps_pd(_mm256_extractf128_ps(part, 1))};
    for (int j = 0; j < 2; ++j) {
      sum[j] = _mm256_add_pd(sum[j], half[j]);
      square[j] = _mm256_add_pd(square[j], _mm256_mul_pd(half[j], half[j]));
    }
    above_count = _mm256_sub_epi32(above_count, _mm256_castps_si256(above));
  }
  std::uint32_t counts[kLanes];
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(counts), above_count);
  for (int j = 0; j < 2; ++j) {
    _mm256_storeu_pd(sums + 4 * j, sum[j]);
    _mm256_storeu_pd(squares + 4 * j, square[j]);
  }
  for (const std::uint32_t lane : counts) out.count += lane;
#endif
  for (; i < count; ++i) {
    const float magnitude = float_of(bits_of(values[i]) & kMagnitude);
    const bool above = magnitude > boundary;
    const double part = above ? magnitude : 0.0F;
    sums[i % kLanes] += part;
    squares[i % kLanes] += part * part;
    out.count += static_cast<std::size_t>(above);
  }
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    out.sum += sums[lane];
    out.squares += squares[lane];
  }
  return out;
}

/// Mantissas are multiplied, exponents added: a logarithm for each value would cost twenty times a read.
LogSum log_sum(const float* values, std::size_t count) {
  constexpr std::size_t kStretch = 512 * kLanes;  // products of 512 mantissas stay below 2^512
  LogSum out;
  for (std::size_t begin = 0; begin < count; begin += kStretch) {
    const std::size_t end = count - begin < kStretch ? count : begin + kStretch;
    double products[kLanes];
    for (double& product : products) product = 1;
    std::int32_t exponents[kLanes] = {};
    const auto take = [&](std::size_t i, std::size_t lane) {
      const std::uint32_t bits = bits_of(values[i]) & kMagnitude;
      const bool zero = bits == 0;
      products[lane] *= static_cast<double>(float_of(zero ? 0x3f800000U : (bits & 0x7fffffU) | 0x3f800000U));
      exponents[lane] += zero ? 0 : static_cast<std::int32_t>(bits >> 23) - 127;
    };
    std::size_t i = begin;
    for (; i + kLanes <= end; i += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) take(i + lane, lane);
    }
    for (; i < end; ++i) take(i, i % kLanes);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      std::uint64_t bits;
      std::memcpy(&bits, &products[lane], sizeof bits);
      out.exponents += exponents[lane] + static_cast<std::int64_t>(bits >> 52) - 1023;
      bits = (bits & 0xfffffffffffffULL) | 0x3ff0000000000000ULL;
      double mantissa;
      std::memcpy(&mantissa, &bits, sizeof mantissa);
      out.mantissas *= mantissa;
    }
    std::uint64_t bits;
    std::memcpy(&bits, &out.mantissas, sizeof bits);
    out.exponents += static_cast<std::int64_t>(bits >> 52) - 1023;
    bits = (bits & 0xfffffffffffffULL) | 0x3ff0000000000000ULL;
    std::memcpy(&out.mantissas, &bits, sizeof bits);
  }
  return out;
}

}  // namespace
}  // namespace hourglass::compress::HG_KERNEL_NAMESPACE
