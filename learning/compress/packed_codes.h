// SPDX-License-Identifier: Apache-2.0
// Part of value_kernels.cc alone: codes of 1 to 8 bits, five ternary digits a byte.
#pragma once

#include <cstring>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "learning/compress/value_kernels.h"

namespace hourglass::compress::HG_KERNEL_NAMESPACE {
namespace {

constexpr std::size_t kGroup = 8;  ///< codes that end on a byte, whatever their bits

template <unsigned kBits>
constexpr std::uint64_t kSpread = ((1ULL << kBits) - 1) * 0x0101010101010101ULL;

/// Eight codes, one a byte.
template <unsigned kBits>
std::uint64_t unpacked(const std::byte* from) {
  std::uint64_t word = 0;
  std::memcpy(&word, from, kBits);
#if defined(__AVX2__)
  return kBits == 8 ? word : _pdep_u64(word, kSpread<kBits>);
#else
  std::uint64_t out = 0;
  for (unsigned j = 0; j < kGroup; ++j) out |= (word >> (j * kBits) & ((1U << kBits) - 1)) << (8 * j);
  return out;
#endif
}

template <unsigned kBits>
void packed(std::uint64_t codes, std::byte* to) {
#if defined(__AVX2__)
  const std::uint64_t word = kBits == 8 ? codes : _pext_u64(codes, kSpread<kBits>);
#else
  std::uint64_t word = 0;
  for (unsigned j = 0; j < kGroup; ++j) word |= (codes >> (8 * j) & ((1U << kBits) - 1)) << (j * kBits);
#endif
  std::memcpy(to, &word, kBits);
}

/// The last, incomplete group; nothing behind the blob is read.
template <unsigned kBits>
std::uint64_t unpacked_last(const std::byte* from, std::size_t count) {
  std::byte padded[8] = {};
  for (std::size_t i = 0; i < (count * kBits + 7) / 8; ++i) padded[i] = from[i];
  return unpacked<kBits>(padded);
}

template <unsigned kBits>
void pack_with(const std::uint8_t* codes, std::size_t count, std::byte* out) {
  std::size_t i = 0;
  for (; i + kGroup <= count; i += kGroup) {
    std::uint64_t eight;
    std::memcpy(&eight, codes + i, sizeof eight);
    packed<kBits>(eight, out + i / kGroup * kBits);
  }
  if (i == count) return;
  std::uint64_t eight = 0;
  std::byte last[8] = {};
  for (std::size_t j = i; j < count; ++j) eight |= static_cast<std::uint64_t>(codes[j]) << (8 * (j - i));
  packed<kBits>(eight, last);
  for (std::size_t j = 0; j < ((count - i) * kBits + 7) / 8; ++j) out[i / kGroup * kBits + j] = last[j];
}

template <unsigned kBits>
void add_with(const std::byte* codes, const FromCodes& from, float* sum, std::size_t count) {
  float table[1U << kBits];
  for (unsigned code = 0; code < 1U << kBits; ++code) table[code] = from.weight * (from.scale * from.table[code]);
  std::size_t i = 0;
  for (; i + kGroup <= count; i += kGroup) {
    const std::uint64_t eight = unpacked<kBits>(codes + i / kGroup * kBits);
#if defined(__AVX2__)
    const __m256i places = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<long long>(eight)));
    __m256 values;
    if constexpr (kBits <= 3) {
      float all[8] = {};
      for (unsigned code = 0; code < 1U << kBits; ++code) all[code] = table[code];
      values = _mm256_permutevar8x32_ps(_mm256_loadu_ps(all), places);
    } else {
      values = _mm256_i32gather_ps(table, places, 4);
    }
    _mm256_storeu_ps(sum + i, _mm256_add_ps(_mm256_loadu_ps(sum + i), values));
#else
    for (unsigned j = 0; j < kGroup; ++j) sum[i + j] += table[eight >> (8 * j) & 255U];
#endif
  }
  if (i == count) return;
  const std::uint64_t eight = unpacked_last<kBits>(codes + i / kGroup * kBits, count - i);
  for (std::size_t j = 0; i + j < count; ++j) sum[i + j] += table[eight >> (8 * j) & 255U];
}

template <unsigned kBits>
void scatter_with(const std::byte* codes, const FromCodes& from, const std::uint32_t* indices, float* sum, std::size_t count) {
  float table[1U << kBits];
  for (unsigned code = 0; code < 1U << kBits; ++code) table[code] = from.weight * (from.scale * from.table[code]);
  std::size_t i = 0;
  for (; i + kGroup <= count; i += kGroup) {
    const std::uint64_t eight = unpacked<kBits>(codes + i / kGroup * kBits);
    for (unsigned j = 0; j < kGroup; ++j) sum[indices[i + j]] += table[eight >> (8 * j) & 255U];
  }
  if (i == count) return;
  const std::uint64_t eight = unpacked_last<kBits>(codes + i / kGroup * kBits, count - i);
  for (std::size_t j = 0; i + j < count; ++j) sum[indices[i + j]] += table[eight >> (8 * j) & 255U];
}

template <unsigned kBits>
bool within(const std::byte* codes, unsigned mask, unsigned most, std::size_t count) {
  std::uint8_t largest = 0;
  std::size_t i = 0;
  for (; i + kGroup <= count; i += kGroup) {
    const std::uint64_t eight = unpacked<kBits>(codes + i / kGroup * kBits);
    std::uint8_t bytes[kGroup];
    std::memcpy(bytes, &eight, sizeof bytes);
    for (const std::uint8_t byte : bytes) {
      const auto level = static_cast<std::uint8_t>(byte & mask);
      largest = level > largest ? level : largest;
    }
  }
  if (i < count) {
    const std::uint64_t eight = unpacked_last<kBits>(codes + i / kGroup * kBits, count - i);
    for (std::size_t j = 0; i + j < count; ++j) {
      const auto level = static_cast<std::uint8_t>(eight >> (8 * j) & mask);
      largest = level > largest ? level : largest;
    }
  }
  return largest <= most;
}

/// Calls `use` with the number of bits as a constant.
template <class F>
auto with_bits(unsigned bits, F&& use) {
  switch (bits) {
    case 1: return use.template operator()<1>();
    case 2: return use.template operator()<2>();
    case 3: return use.template operator()<3>();
    case 4: return use.template operator()<4>();
    case 5: return use.template operator()<5>();
    case 6: return use.template operator()<6>();
    case 7: return use.template operator()<7>();
    default: return use.template operator()<8>();
  }
}

void pack_codes(const std::uint8_t* codes, std::size_t count, unsigned bits, std::byte* out) {
  with_bits(bits, [&]<unsigned kBits>() { pack_with<kBits>(codes, count, out); });
}

void add_codes(const std::byte* codes, unsigned bits, const FromCodes& from, float* sum, std::size_t count) {
  with_bits(bits, [&]<unsigned kBits>() { add_with<kBits>(codes, from, sum, count); });
}

void scatter_codes(const std::byte* codes, unsigned bits, const FromCodes& from, const std::uint32_t* indices, float* sum,
                   std::size_t count) {
  with_bits(bits, [&]<unsigned kBits>() { scatter_with<kBits>(codes, from, indices, sum, count); });
}

bool codes_within(const std::byte* codes, unsigned bits, unsigned mask, unsigned most, std::size_t count) {
  return with_bits(bits, [&]<unsigned kBits>() { return within<kBits>(codes, mask, most, count); });
}

constexpr std::size_t kTrits = 5;

void pack_trits(const std::uint8_t* codes, std::size_t count, std::byte* out) {
  constexpr unsigned kPowers[kTrits] = {1, 3, 9, 27, 81};
  for (std::size_t i = 0; i < count; i += kTrits) {
    unsigned sum = 0;
    for (std::size_t j = 0; j < kTrits && i + j < count; ++j) sum += kPowers[j] * (codes[i + j] - (codes[i + j] >> 1U));
    out[i / kTrits] = static_cast<std::byte>(sum);
  }
}

struct TritTable {
  float digits[256][8] = {};
  explicit TritTable(const float* table) {
    for (unsigned byte = 0; byte < 243; ++byte) {
      unsigned rest = byte;
      for (std::size_t j = 0; j < kTrits; ++j) {
        digits[byte][j] = table[rest % 3];
        rest /= 3;
      }
    }
  }
};

void add_trits(const std::byte* trits, const float* table, float* sum, std::size_t count) {
  const TritTable all(table);
  std::size_t i = 0;
  for (; i + kTrits <= count; i += kTrits) {
    const float* five = all.digits[static_cast<unsigned>(trits[i / kTrits])];
    for (std::size_t j = 0; j < kTrits; ++j) sum[i + j] += five[j];
  }
  for (std::size_t j = 0; i + j < count; ++j) sum[i + j] += all.digits[static_cast<unsigned>(trits[i / kTrits])][j];
}

void scatter_trits(const std::byte* trits, const float* table, const std::uint32_t* indices, float* sum, std::size_t count) {
  const TritTable all(table);
  std::size_t i = 0;
  for (; i + kTrits <= count; i += kTrits) {
    const float* five = all.digits[static_cast<unsigned>(trits[i / kTrits])];
    for (std::size_t j = 0; j < kTrits; ++j) sum[indices[i + j]] += five[j];
  }
  for (std::size_t j = 0; i + j < count; ++j) sum[indices[i + j]] += all.digits[static_cast<unsigned>(trits[i / kTrits])][j];
}

}  // namespace
}  // namespace hourglass::compress::HG_KERNEL_NAMESPACE
