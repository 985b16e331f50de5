// SPDX-License-Identifier: Apache-2.0
// Finds every MessagePack value in an encoded message, for tests that damage one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "base/bytes.h"

namespace hourglass::testing_support {

enum class Kind { integer, boolean, real32, real64, text, bin, array };

struct WireValue {
  Kind kind{};
  std::size_t begin = 0;    ///< of its tag
  std::size_t content = 0;  ///< behind tag and length
  std::size_t end = 0;      ///< behind the value and all that it contains
};

class WireWalk {
 public:
  explicit WireWalk(const Bytes& bytes) : bytes_(bytes) {
    while (at_ < bytes_.size()) value();
  }
  std::vector<WireValue> values;

 private:
  std::uint64_t big_endian(std::size_t size) {
    std::uint64_t out = 0;
    for (; size > 0; --size) out = out << 8 | static_cast<std::uint64_t>(bytes_.at(at_++));
    return out;
  }
  void value() {
    const std::size_t index = values.size();
    const std::size_t begin = at_;
    values.push_back({});
    const auto tag = static_cast<std::uint8_t>(bytes_.at(at_++));
    std::uint64_t skipped = 0, elements = 0;
    Kind kind = Kind::integer;
    if (tag < 0x80 || tag >= 0xe0) {
    } else if (tag >= 0xcc && tag <= 0xd3) {
      skipped = std::uint64_t{1} << (tag & 3);
    } else if (tag == 0xc2 || tag == 0xc3) {
      kind = Kind::boolean;
    } else if (tag == 0xca || tag == 0xcb) {
      kind = tag == 0xca ? Kind::real32 : Kind::real64;
      skipped = tag == 0xca ? 4 : 8;
    } else if ((tag & 0xe0) == 0xa0 || (tag >= 0xd9 && tag <= 0xdb)) {
      kind = Kind::text;
      skipped = (tag & 0xe0) == 0xa0 ? tag & 0x1f : big_endian(std::size_t{1} << (tag - 0xd9));
    } else if (tag >= 0xc4 && tag <= 0xc6) {
      kind = Kind::bin;
      skipped = big_endian(std::size_t{1} << (tag - 0xc4));
    } else if ((tag & 0xf0) == 0x90 || tag == 0xdc || tag == 0xdd) {
      kind = Kind::array;
      elements = (tag & 0xf0) == 0x90 ? tag & 0x0f : big_endian(tag == 0xdc ? 2 : 4);
    } else {
      throw std::runtime_error("a MessagePack type that the protocol does not use");
    }
    const std::size_t content = at_;
    at_ += skipped;
    for (; elements > 0; --elements) value();
    values[index] = {kind, begin, content, at_};
  }

  const Bytes& bytes_;
  std::size_t at_ = 0;
};

/// Every value, an array before its elements. Throws on what this protocol does not use: the input is our own encoder's.
inline std::vector<WireValue> wire_values(const Bytes& bytes) { return WireWalk(bytes).values; }

}  // namespace hourglass::testing_support
