// SPDX-License-Identifier: Apache-2.0
// Part of kernels.cc alone: Golomb-Rice codes (see rice.h), several of them for each look at the stream, so that the chain from one code to
// the next is as short as it can be.
#pragma once

#include <cstring>

#include "learning/compress/kernels.h"

namespace hourglass::compress::HG_KERNEL_NAMESPACE {
namespace {

constexpr unsigned kRicePiece = 56;  ///< bits that one step of the streams takes

void gap_sums(const std::uint32_t* indices, std::size_t count, unsigned first, std::uint64_t* sums) {
  // Gaps add up to less than a range's length, so 32 bits hold every sum.
  const std::uint32_t front = indices[0] >> first;
  std::uint32_t a = front;
  std::uint32_t b = front >> 1;
  std::uint32_t c = front >> 2;
  std::uint32_t d = front >> 3;
  for (std::size_t i = 1; i < count; ++i) {
    const std::uint32_t gap = (indices[i] - indices[i - 1] - 1) >> first;
    a += gap;
    b += gap >> 1;
    c += gap >> 2;
    d += gap >> 3;
  }
  sums[0] = a;
  sums[1] = b;
  sums[2] = c;
  sums[3] = d;
}

struct RiceWriter {
  std::byte* out;
  std::uint64_t pending = 0;
  unsigned filled = 0;

  void put(std::uint64_t bits, unsigned length) {
    pending |= bits << filled;
    filled += length;
    std::memcpy(out, &pending, sizeof pending);
    out += filled / 8;
    pending >>= filled & ~7U;
    filled &= 7U;
  }
  void code(std::uint32_t gap, unsigned parameter) {
    std::uint32_t ones = gap >> parameter;
    while (ones + 1 + parameter > kRicePiece) [[unlikely]] {
        const std::uint32_t piece = ones < kRicePiece ? ones : kRicePiece;
        put((1ULL << piece) - 1, piece);
        ones -= piece;
      }
    const std::uint64_t low = gap & ((1ULL << parameter) - 1);
    put(((1ULL << ones) - 1) | low << (ones + 1), ones + 1 + parameter);
  }
};

/// kCodes at a time where they fit one step.
template <unsigned kCodes>
void encode_rice(const std::uint32_t* indices, std::size_t count, unsigned parameter, std::byte* out) {
  RiceWriter writer{out};
  const std::uint32_t mask = (1U << parameter) - 1;
  std::uint32_t expected = 0;
  std::size_t i = 0;
  for (; i + kCodes <= count; i += kCodes) {
    std::uint32_t gaps[kCodes];
    std::uint64_t ones_total = 0;
    for (unsigned j = 0; j < kCodes; ++j) {
      gaps[j] = indices[i + j] - expected;
      expected = indices[i + j] + 1;
      ones_total += gaps[j] >> parameter;
    }
    if (ones_total + kCodes * (1 + parameter) > kRicePiece) [[unlikely]] {
      for (const std::uint32_t gap : gaps) writer.code(gap, parameter);
      continue;
    }
    std::uint64_t bits = 0;
    unsigned length = 0;
    for (unsigned j = 0; j < kCodes; ++j) {
      const unsigned ones = gaps[j] >> parameter;
      bits |= (((1ULL << ones) - 1) | static_cast<std::uint64_t>(gaps[j] & mask) << (ones + 1)) << length;
      length += ones + 1 + parameter;
    }
    writer.put(bits, length);
  }
  for (; i < count; ++i) {
    writer.code(indices[i] - expected, parameter);
    expected = indices[i] + 1;
  }
}

void rice_encode(const std::uint32_t* indices, std::size_t count, unsigned parameter, std::byte* out) {
  if (parameter <= 10) return encode_rice<4>(indices, count, parameter, out);
  if (parameter <= 24) return encode_rice<2>(indices, count, parameter, out);
  encode_rice<1>(indices, count, parameter, out);
}

struct RiceReader {
  const std::byte* bytes;
  std::size_t size;
  std::uint64_t position = 0;  ///< in bits

  /// At least 56 bits; zeros behind the end.
  [[nodiscard]] std::uint64_t window() const {
    const std::size_t at = position / 8;
    std::uint64_t word = 0;
    if (size >= 8 && at <= size - 8) [[likely]] {
      std::memcpy(&word, bytes + at, sizeof word);
    } else if (at < size) {
      std::memcpy(&word, bytes + at, size - at < sizeof word ? size - at : sizeof word);
    }
    return word >> (position % 8);
  }
  /// One gap, whatever its length; one that is beyond the range where its ones are above `ones_max`.
  std::uint64_t gap(unsigned parameter, std::uint64_t ones_max) {
    std::uint64_t ones = 0;
    while (ones <= ones_max) {
      const std::uint64_t stop = ~window();
      const unsigned piece = stop == 0 ? 64U : static_cast<unsigned>(__builtin_ctzll(stop));
      if (piece < kRicePiece) {
        position += piece + 1;
        ones += piece;
        break;
      }
      position += kRicePiece;
      ones += kRicePiece;
    }
    const std::uint64_t low = window() & ((1ULL << parameter) - 1);
    position += parameter;
    return (ones << parameter) + low;
  }
};

/// Looks at `kCodes` codes at once; where they turn out to be longer than the window, what was read is thrown away and read again singly.
template <unsigned kCodes>
std::uint64_t decode_rice(const RiceBlock& block, std::uint32_t* indices) {
  RiceReader reader{block.bytes, block.size};
  const unsigned parameter = block.parameter;
  const std::uint64_t mask = (1ULL << parameter) - 1;
  const std::uint64_t ones_max = block.length >> parameter;
  std::uint64_t expected = 0;
  std::size_t i = 0;
  for (; i + kCodes <= block.count; i += kCodes) {
    std::uint64_t zeros = ~reader.window();  // shifted in zeros look like ones of a code that is too long
    std::uint64_t next = expected;
    unsigned used = 0;
    for (unsigned j = 0; j < kCodes; ++j) {
      const auto ones = static_cast<unsigned>(__builtin_ctzll(zeros | 1ULL << 63));
      zeros = zeros >> ones >> 1;
      next += (static_cast<std::uint64_t>(ones) << parameter) + (~zeros & mask);
      zeros >>= parameter;
      indices[i + j] = static_cast<std::uint32_t>(next);
      ++next;
      used += ones + 1 + parameter;
    }
    if (used > kRicePiece) [[unlikely]] {
      next = expected;
      for (unsigned j = 0; j < kCodes; ++j) {
        next += reader.gap(parameter, ones_max);
        if (next >= block.length) return kRiceBeyond;
        indices[i + j] = static_cast<std::uint32_t>(next);
        ++next;
      }
    } else {
      reader.position += used;
      if (next > block.length) return kRiceBeyond;
    }
    expected = next;
  }
  for (; i < block.count; ++i) {
    expected += reader.gap(parameter, ones_max);
    if (expected >= block.length) return kRiceBeyond;
    indices[i] = static_cast<std::uint32_t>(expected);
    ++expected;
  }
  return reader.position;
}

std::uint64_t rice_decode(const RiceBlock& block, std::uint32_t* indices) {
  if (block.parameter <= 9) return decode_rice<4>(block, indices);
  if (block.parameter <= 13) return decode_rice<3>(block, indices);
  if (block.parameter <= 22) return decode_rice<2>(block, indices);
  return decode_rice<1>(block, indices);
}

}  // namespace
}  // namespace hourglass::compress::HG_KERNEL_NAMESPACE
