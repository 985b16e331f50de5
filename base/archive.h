// SPDX-License-Identifier: Apache-2.0
// State as bytes, for files and for what travels as a whole: numbers little-endian, vectors with their count. What was put is taken in the
// same order. Messages have a codec of their own.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/bytes.h"

namespace hourglass {

class ArchiveWriter {
 public:
  template <class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void put(T value) {
    const auto* first = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), first, first + sizeof value);
  }
  template <class T>
  requires std::is_arithmetic_v<T>
  void put_all(std::span<const T> values) {
    put(static_cast<std::uint64_t>(values.size()));
    const auto raw = std::as_bytes(values);
    bytes_.insert(bytes_.end(), raw.begin(), raw.end());
  }
  void put_text(std::string_view text) { put_all(std::span<const char>(text)); }
  void put_bytes(std::span<const std::byte> bytes) {
    put(static_cast<std::uint64_t>(bytes.size()));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  [[nodiscard]] Bytes take() { return std::move(bytes_); }

 private:
  Bytes bytes_;
};

/// Never reads beyond the end: from the first thing that does not fit on, everything taken is zero or empty, and ok() is false. So a reader
/// takes what it expects, and looks once, at the end. Never allocates more than the bytes that are there.
class ArchiveReader {
 public:
  explicit ArchiveReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) T get() {
    T value{};
    const auto raw = next(sizeof value);
    if (raw.size() == sizeof value) std::memcpy(&value, raw.data(), sizeof value);
    return value;
  }
  template <class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void get(T& value) { value = get<T>(); }
  /// A number from 0 to `last`.
  template <class T>
  T get_up_to(T last) {
    const T value = get<T>();
    if (value > last) fail();
    return value > last ? T{} : value;
  }
  template <class T>
  requires std::is_arithmetic_v<T> std::vector<T> get_all() {
    const std::uint64_t count = get<std::uint64_t>();
    if (count > rest_.size() / sizeof(T)) {
      fail();
      return {};
    }
    return from_bytes<T>(next(count * sizeof(T)));
  }
  /// Exactly `values.size()` of them.
  template <class T>
  requires std::is_arithmetic_v<T>
  void get_into(std::vector<T>& values) {
    std::vector<T> read = get_all<T>();
    if (read.size() != values.size()) return fail();
    values = std::move(read);
  }
  std::string get_text() {
    const std::vector<char> text = get_all<char>();
    return {text.begin(), text.end()};
  }
  Bytes get_bytes() {
    const std::uint64_t count = get<std::uint64_t>();
    const auto raw = next(count);
    return {raw.begin(), raw.end()};
  }
  void fail() {
    failed_ = true;
    rest_ = {};
  }
  [[nodiscard]] bool ok() const { return !failed_; }
  /// Everything was read, and nothing is left.
  [[nodiscard]] bool complete() const { return ok() && rest_.empty(); }

 private:
  std::span<const std::byte> next(std::uint64_t count) {
    if (count > rest_.size()) {
      fail();
      return {};
    }
    const auto out = rest_.first(count);
    rest_ = rest_.subspan(count);
    return out;
  }
  std::span<const std::byte> rest_;
  bool failed_ = false;
};

}  // namespace hourglass
