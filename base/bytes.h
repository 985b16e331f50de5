// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace hourglass {

static_assert(std::endian::native == std::endian::little, "bulk data is little-endian on the wire and copied as it is");

using Bytes = std::vector<std::byte>;
/// Immutable and shared: one encoded update goes to many peers without a copy.
using SharedBytes = std::shared_ptr<const Bytes>;

inline SharedBytes share(Bytes bytes) { return std::make_shared<const Bytes>(std::move(bytes)); }

inline std::span<const std::byte> as_span(std::string_view text) { return {reinterpret_cast<const std::byte*>(text.data()), text.size()}; }
inline std::string_view as_text(std::span<const std::byte> bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

/// Copies numbers to bytes and back, little-endian, whatever their alignment.
template <class T>
requires std::is_trivially_copyable_v<T> Bytes to_bytes(std::span<const T> values) {
  Bytes out(values.size_bytes());
  if (!values.empty()) std::memcpy(out.data(), values.data(), values.size_bytes());
  return out;
}
/// `bytes.size()` must be a multiple of sizeof(T); what is left over is ignored.
template <class T>
requires std::is_trivially_copyable_v<T> std::vector<T> from_bytes(std::span<const std::byte> bytes) {
  std::vector<T> out(bytes.size() / sizeof(T));
  if (!out.empty()) std::memcpy(out.data(), bytes.data(), out.size() * sizeof(T));
  return out;
}

/// 32 bits of XXH3 over the bytes: detects what a network without authentication lets through.
std::uint32_t checksum(std::span<const std::byte> bytes);
/// 64 bits of XXH3, for identities such as the model's.
std::uint64_t fingerprint(std::span<const std::byte> bytes);

}  // namespace hourglass
