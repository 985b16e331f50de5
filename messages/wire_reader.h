// SPDX-License-Identifier: Apache-2.0
// Reads one expected MessagePack value at a time. Nothing is allocated and nothing nests, so a claim of 4 G elements or two
// million open arrays costs a comparison.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "base/bytes.h"

namespace hourglass {

/// An integer of any MessagePack width. `negative`: `bits` is the two's complement of a number below zero.
struct WireInteger {
  std::uint64_t bits = 0;
  bool negative = false;
};

/// Each read returns nothing, and leaves the position where it was, when the next value is of another type or incomplete.
class WireReader {
 public:
  explicit WireReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  [[nodiscard]] std::size_t remaining() const { return rest_.size(); }

  std::optional<WireInteger> integer() {
    if (rest_.empty()) return std::nullopt;
    const std::uint8_t tag = front();
    if (tag < 0x80) return skip(1), WireInteger{tag, false};
    if (tag >= 0xe0) return skip(1), signed_value(static_cast<std::int8_t>(tag));
    switch (tag) {
      case 0xcc: return unsigned_as<std::uint8_t>();
      case 0xcd: return unsigned_as<std::uint16_t>();
      case 0xce: return unsigned_as<std::uint32_t>();
      case 0xcf: return unsigned_as<std::uint64_t>();
      case 0xd0: return signed_as<std::int8_t>();
      case 0xd1: return signed_as<std::int16_t>();
      case 0xd2: return signed_as<std::int32_t>();
      case 0xd3: return signed_as<std::int64_t>();
      default: return std::nullopt;
    }
  }
  std::optional<bool> boolean() {
    if (rest_.empty() || (front() != 0xc2 && front() != 0xc3)) return std::nullopt;
    const bool value = front() == 0xc3;
    skip(1);
    return value;
  }
  std::optional<float> real32() { return real_as<float, std::uint32_t>(0xca); }
  std::optional<double> real64() { return real_as<double, std::uint64_t>(0xcb); }
  /// The count an array claims; its elements follow.
  std::optional<std::uint32_t> array() {
    if (rest_.empty()) return std::nullopt;
    if ((front() & 0xf0) == 0x90) {
      const std::uint32_t count = front() & 0x0fU;
      skip(1);
      return count;
    }
    return length(0, 0xdc, 0xdd);
  }
  /// The size a string or bin claims; `take` gives its bytes, if they are there.
  std::optional<std::uint32_t> text() {
    if (rest_.empty()) return std::nullopt;
    if ((front() & 0xe0) == 0xa0) {
      const std::uint32_t size = front() & 0x1fU;
      skip(1);
      return size;
    }
    return length(0xd9, 0xda, 0xdb);
  }
  std::optional<std::uint32_t> bin() { return rest_.empty() ? std::nullopt : length(0xc4, 0xc5, 0xc6); }
  std::optional<std::span<const std::byte>> take(std::size_t size) {
    if (size > rest_.size()) return std::nullopt;
    const auto out = rest_.first(size);
    skip(size);
    return out;
  }

 private:
  [[nodiscard]] std::uint8_t front() const { return static_cast<std::uint8_t>(rest_.front()); }
  void skip(std::size_t count) { rest_ = rest_.subspan(count); }

  /// The big-endian number behind the one-byte tag.
  template <class U>
  std::optional<U> behind_tag() {
    if (rest_.size() < 1 + sizeof(U)) return std::nullopt;
    U value = 0;
    for (std::size_t i = 1; i <= sizeof(U); ++i)
      value = static_cast<U>(static_cast<std::uint64_t>(value) << 8 | static_cast<std::uint8_t>(rest_[i]));
    skip(1 + sizeof(U));
    return value;
  }
  static WireInteger signed_value(std::int64_t value) { return {static_cast<std::uint64_t>(value), value < 0}; }
  template <class U>
  std::optional<WireInteger> unsigned_as() {
    const auto value = behind_tag<U>();
    return value ? std::optional(WireInteger{*value, false}) : std::nullopt;
  }
  template <class I>
  std::optional<WireInteger> signed_as() {
    const auto value = behind_tag<std::make_unsigned_t<I>>();
    return value ? std::optional(signed_value(static_cast<I>(*value))) : std::nullopt;
  }
  template <class F, class U>
  std::optional<F> real_as(std::uint8_t tag) {
    if (rest_.empty() || front() != tag) return std::nullopt;
    const auto value = behind_tag<U>();
    return value ? std::optional(std::bit_cast<F>(*value)) : std::nullopt;
  }
  std::optional<std::uint32_t> length(std::uint8_t tag8, std::uint8_t tag16, std::uint8_t tag32) {
    const std::uint8_t tag = front();
    if (tag == tag8 && tag8 != 0) return behind_tag<std::uint8_t>();
    if (tag == tag16) return behind_tag<std::uint16_t>();
    if (tag == tag32) return behind_tag<std::uint32_t>();
    return std::nullopt;
  }

  std::span<const std::byte> rest_;
};

}  // namespace hourglass
