// SPDX-License-Identifier: Apache-2.0
// What the value codecs share: numbers in front of a blob, packed codes behind them, keys.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>

#include "base/bytes.h"

namespace hourglass::compress {

template <class T>
T read_at(const Bytes& blob, std::size_t at) {
  T value;
  std::memcpy(&value, blob.data() + at, sizeof value);
  return value;
}
template <class T>
void write_at(Bytes& blob, std::size_t at, T value) {
  std::memcpy(blob.data() + at, &value, sizeof value);
}

inline std::size_t packed_bytes(std::size_t count, unsigned bits) { return (count * bits + 7) / 8; }
/// The bits behind the last of `count` codes, which end the blob, are 0.
inline bool is_padded_with_zeros(const Bytes& blob, std::size_t count, unsigned bits) {
  const std::size_t used = count * bits % 8;
  return used == 0 || static_cast<unsigned>(blob.back()) >> used == 0;
}

/// A key for random rounding. Workers at the same step share `key` and must not round alike, so what they round takes part.
inline std::uint64_t rounding_key(std::uint64_t key, std::span<const float> values) {
  std::uint64_t mixed = key * 0x9e3779b97f4a7c15ULL + fingerprint(std::as_bytes(values.first(std::min<std::size_t>(values.size(), 256))));
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9ULL;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebULL;
  return mixed ^ mixed >> 31;
}

}  // namespace hourglass::compress
