// SPDX-License-Identifier: Apache-2.0
// Compiled once per processor level, so it calls no inline function of any header: the linker might keep the wrong level's copy.
#include "learning/compress/value_kernels.h"

#include "learning/compress/packed_codes.h"

namespace hourglass::compress::HG_KERNEL_NAMESPACE {
extern const ValueKernels kValueTable;
namespace {

constexpr std::uint32_t kMagnitude = 0x7fffffffU;
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
std::uint16_t half_at(const std::byte* values, std::size_t index) {
  std::uint16_t half;
  std::memcpy(&half, values + 2 * index, sizeof half);
  return half;
}

/// What is below the normal halves is rounded by the addition: one unit in the last place of 0.5 is the least half.
void to_f16(const float* values, std::byte* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t bits = bits_of(values[i]);
    const std::uint32_t magnitude = bits & kMagnitude;
    const std::uint32_t tiny = bits_of(float_of(magnitude < 0x38800000U ? magnitude : 0U) + 0.5F) - 0x3f000000U;
    std::uint32_t rounded = (magnitude - 0x38000000U + 0xfffU + (magnitude >> 13 & 1U)) >> 13;
    rounded = magnitude >= 0x477fe000U ? 0x7bffU : rounded;
    rounded = magnitude < 0x38800000U ? tiny : rounded;
    const auto half = static_cast<std::uint16_t>(rounded | (bits >> 16 & 0x8000U));
    std::memcpy(out + 2 * i, &half, sizeof half);
  }
}

float from_half(std::uint32_t half) {
  const std::uint32_t shifted = (half & 0x7fffU) << 13;
  const float tiny = float_of(shifted + 0x38800000U) - float_of(0x38800000U);
  const float ordinary = float_of(shifted + 0x38000000U);
  return float_of(bits_of(shifted < 0x800000U ? tiny : ordinary) | (half & 0x8000U) << 16);
}

void add_f16(const std::byte* values, float* sum, std::size_t count, float weight) {
  for (std::size_t i = 0; i < count; ++i) sum[i] += weight * from_half(half_at(values, i));
}

void scatter_f16(const std::byte* values, const std::uint32_t* indices, float* sum, std::size_t count, float weight) {
  for (std::size_t i = 0; i < count; ++i) sum[indices[i]] += weight * from_half(half_at(values, i));
}

bool finite_f16(const std::byte* values, std::size_t count) {
  std::uint16_t bad = 0;
  for (std::size_t i = 0; i < count; ++i) bad |= static_cast<std::uint16_t>((half_at(values, i) & 0x7c00U) == 0x7c00U);
  return bad == 0;
}

/// Uniform over 32 bits.
std::uint32_t hash_of(std::uint32_t position, std::uint64_t key) {
  std::uint32_t hash = position + static_cast<std::uint32_t>(key);
  hash = (hash ^ hash >> 16) * 0x7feb352dU;
  hash = ((hash ^ hash >> 15) + static_cast<std::uint32_t>(key >> 32)) * 0x846ca68bU;
  return hash ^ hash >> 16;
}

void to_levels(const float* values, std::size_t count, const ToLevels& how, unsigned sign_bit, std::uint64_t key, std::uint32_t position,
               std::uint8_t* out) {
  const float up = how.up;
  const float inverse = how.inverse;
  const float most = how.most;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t bits = bits_of(values[i]);
    const std::uint32_t hash = hash_of(position + static_cast<std::uint32_t>(i), key);
    const float uniform = static_cast<float>(static_cast<std::int32_t>(hash >> 8)) * 0x1p-24F;
    const float scaled = float_of(bits & kMagnitude) * up * inverse + uniform;
    const auto level = static_cast<std::uint32_t>(static_cast<std::int32_t>(scaled < most ? scaled : most));
    out[i] = static_cast<std::uint8_t>(level == 0 ? 0U : level | (bits >> 31) * sign_bit);
  }
}

/// Adding 2^23 rounds to a whole number, half to even, which then is in the low bits.
void to_nearest(const float* values, std::size_t count, const ToLevels& how, unsigned sign_bit, std::uint8_t* out) {
  const float up = how.up;
  const float inverse = how.inverse;
  const float most = how.most;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t bits = bits_of(values[i]);
    const float scaled = float_of(bits & kMagnitude) * up * inverse;
    const std::uint32_t level = bits_of((scaled < most ? scaled : most) + 0x1p23F) & 0x7fffffU;
    out[i] = static_cast<std::uint8_t>(level == 0 ? 0U : level | (bits >> 31) * sign_bit);
  }
}

/// A carry out of the mantissa happens with the probability that the mantissa is.
void to_exponents(const float* values, std::size_t count, std::uint64_t key, std::uint32_t position, std::uint8_t* out) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t hash = hash_of(position + static_cast<std::uint32_t>(i), key);
    const std::uint32_t exponent = ((bits_of(values[i]) & kMagnitude) + (hash >> 9)) >> 23;
    out[i] = static_cast<std::uint8_t>(exponent > 254U ? 254U : exponent);
  }
}

float power_of(std::byte exponent, std::byte sign_byte, std::size_t place) {
  const std::uint32_t sign = static_cast<std::uint32_t>(sign_byte) >> place & 1U;
  return float_of(static_cast<std::uint32_t>(exponent) << 23 | sign << 31);
}

void add_exponents(const std::byte* exponents, const std::byte* signs, float* sum, std::size_t count, float weight) {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (std::size_t j = 0; j < 8; ++j) sum[i + j] += weight * power_of(exponents[i + j], signs[i / 8], j);
  }
  for (; i < count; ++i) sum[i] += weight * power_of(exponents[i], signs[i / 8], i % 8);
}

void scatter_exponents(const std::byte* exponents, const std::byte* signs, const std::uint32_t* indices, float* sum, std::size_t count,
                       float weight) {
  for (std::size_t i = 0; i < count; ++i) sum[indices[i]] += weight * power_of(exponents[i], signs[i / 8], i % 8);
}

void pack_signs(const float* values, std::size_t count, std::byte* out) {
  std::size_t i = 0;
#if defined(__AVX2__)
  for (; i + 8 <= count; i += 8) out[i / 8] = static_cast<std::byte>(_mm256_movemask_ps(_mm256_loadu_ps(values + i)));
#endif
  for (; i < count; i += 8) {
    unsigned signs = 0;
    for (std::size_t j = 0; j < 8 && i + j < count; ++j) signs |= (bits_of(values[i + j]) >> 31) << j;
    out[i / 8] = static_cast<std::byte>(signs);
  }
}

void pack_threshold(const float* values, std::size_t count, float threshold, std::byte* out) {
  std::size_t i = 0;
#if defined(__AVX2__)
  const __m256 above = _mm256_set1_ps(threshold);
  const __m256 below = _mm256_set1_ps(-threshold);
  for (; i + 8 <= count; i += 8) {
    const __m256 value = _mm256_loadu_ps(values + i);
    const auto positive = static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(value, above, _CMP_GE_OQ)));
    const auto negative = static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(value, below, _CMP_LE_OQ)));
    const auto codes = static_cast<std::uint16_t>(_pdep_u32(positive, 0x5555U) | _pdep_u32(positive | negative, 0xaaaaU));
    std::memcpy(out + i / 4, &codes, sizeof codes);
  }
#endif
  for (; i < count; i += 4) {
    unsigned codes = 0;
    for (std::size_t j = 0; j < 4 && i + j < count; ++j) {
      const float value = values[i + j];
      codes |= (value >= threshold ? 3U : value <= -threshold ? 2U : 0U) << (2 * j);
    }
    out[i / 4] = static_cast<std::byte>(codes);
  }
}

SideSums side_sums(const float* values, std::size_t count) {
  double positive[kLanes] = {};
  double negative[kLanes] = {};
  std::int32_t below[kLanes] = {};
  const auto take = [&](std::size_t lane, float value) {
    positive[lane] += static_cast<double>(value > 0 ? value : 0.0F);
    negative[lane] += static_cast<double>(value < 0 ? -value : 0.0F);
    below[lane] += static_cast<std::int32_t>(bits_of(value) >> 31);
  };
  std::size_t i = 0;
#if defined(__AVX2__)
  const __m256 magnitude_mask = _mm256_castsi256_ps(_mm256_set1_epi32(static_cast<int>(kMagnitude)));
  __m256d up[2] = {_mm256_setzero_pd(), _mm256_setzero_pd()};
  __m256d down[2] = {_mm256_setzero_pd(), _mm256_setzero_pd()};
  __m256i signs = _mm256_setzero_si256();
  for (; i + kLanes <= count; i += kLanes) {
    const __m256 value = _mm256_loadu_ps(values + i);
    const __m256i sign = _mm256_srai_epi32(_mm256_castps_si256(value), 31);
    const __m256 magnitude = _mm256_and_ps(value, magnitude_mask);
    const __m256 below_zero = _mm256_and_ps(magnitude, _mm256_castsi256_ps(sign));
    const __m256 above_zero = _mm256_andnot_ps(_mm256_castsi256_ps(sign), magnitude);
    up[0] = _mm256_add_pd(up[0], _mm256_cvtps_pd(_mm256_castps256_ps128(above_zero)));
    up[1] = _mm256_add_pd(up[1], _mm256_cvtps_pd(_mm256_extractf128_ps(above_zero, 1)));
    down[0] = _mm256_add_pd(down[0], _mm256_cvtps_pd(_mm256_castps256_ps128(below_zero)));
    down[1] = _mm256_add_pd(down[1], _mm256_cvtps_pd(_mm256_extractf128_ps(below_zero, 1)));
    signs = _mm256_sub_epi32(signs, sign);
  }
  for (int half = 0; half < 2; ++half) {
    _mm256_storeu_pd(positive + 4 * half, up[half]);
    _mm256_storeu_pd(negative + 4 * half, down[half]);
  }
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(below), signs);
#else
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) take(lane, values[i + lane]);
  }
#endif
  for (; i < count; ++i) take(i % kLanes, values[i]);
  SideSums sums;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    sums.positive += positive[lane];
    sums.negative += negative[lane];
    sums.negative_count += static_cast<std::size_t>(below[lane]);
  }
  return sums;
}

void evaluate(const Piece& piece, float* out, std::size_t count) {
  const double* c = piece.coefficients;
  const double step = 2.0 / static_cast<double>(count > 1 ? count - 1 : 1);
  for (std::size_t i = 0; i < count; ++i) {
    const double t = step * static_cast<double>(static_cast<std::int32_t>(i)) - 1.0;
    double y = ((((c[5] * t + c[4]) * t + c[3]) * t + c[2]) * t + c[1]) * t + c[0];
    y = y > 1.0 ? 1.0 : y;
    y = y > 0.0 ? y : 0.0;
    out[i] = static_cast<float>(piece.low + piece.width * y);
  }
}

}  // namespace

const ValueKernels kValueTable = {to_f16,        add_f16,           scatter_f16, finite_f16,     pack_codes, add_codes,  scatter_codes,
                                  codes_within,  pack_trits,        add_trits,   scatter_trits,  to_levels,  to_nearest, to_exponents,
                                  add_exponents, scatter_exponents, pack_signs,  pack_threshold, side_sums,  evaluate};

}  // namespace hourglass::compress::HG_KERNEL_NAMESPACE
