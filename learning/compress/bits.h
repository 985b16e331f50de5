// SPDX-License-Identifier: Apache-2.0
// Bit streams packed from the low bit, a word at a time.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/bytes.h"

namespace hourglass::compress {

/// Writes into memory that must have 8 bytes more than the bits need.
class BitWriter {
 public:
  explicit BitWriter(std::byte* out) : out_(out) {}
  /// The `length` <= 56 low bits of `bits`; the others are 0.
  void put(std::uint64_t bits, unsigned length) {
    pending_ |= bits << filled_;
    filled_ += length;
    std::memcpy(out_, &pending_, sizeof pending_);
    out_ += filled_ / 8;
    pending_ >>= filled_ & ~7U;
    filled_ &= 7U;
  }

 private:
  std::byte* out_;
  std::uint64_t pending_ = 0;
  unsigned filled_ = 0;
};

/// Reads zeros behind the end; position() tells whether that happened.
class BitReader {
 public:
  explicit BitReader(std::span<const std::byte> bytes) : next_(bytes.data()), end_(bytes.data() + bytes.size()), begin_(bytes.data()) {}

  /// At least 56 bits of the stream, from the low bit.
  std::uint64_t window() {
    if (end_ - next_ >= 8) [[likely]] {
      std::uint64_t word;
      std::memcpy(&word, next_, sizeof word);
      window_ |= word << held_;
      next_ += (63 - held_) / 8;
      held_ |= 56U;
    } else {
      refill_at_end();
    }
    return window_;
  }
  /// `length` <= 56 bits, after window().
  void skip(unsigned length) {
    window_ >>= length;
    held_ -= length;
  }
  /// Bits consumed; beyond size * 8 where zeros behind the end were.
  [[nodiscard]] std::uint64_t position() const { return static_cast<std::uint64_t>(next_ - begin_) * 8 + virtual_bits_ - held_; }

 private:
  void refill_at_end() {
    while (held_ < 56) {
      if (next_ < end_) {
        window_ |= static_cast<std::uint64_t>(*next_++) << held_;
      } else {
        virtual_bits_ += 8;
      }
      held_ += 8;
    }
  }

  const std::byte* next_;
  const std::byte* end_;
  const std::byte* begin_;
  std::uint64_t window_ = 0;
  std::uint64_t virtual_bits_ = 0;
  unsigned held_ = 0;
};

/// Whether the last byte has only zeros from bit number `bits` of the stream on. `bits` are within that byte, or end it.
inline bool zeros_behind(std::span<const std::byte> bytes, std::uint64_t bits) {
  return bits % 8 == 0 || static_cast<unsigned>(bytes.back()) >> (bits % 8) == 0;
}

}  // namespace hourglass::compress
