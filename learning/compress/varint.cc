// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/varint.h"

namespace hourglass::compress {
namespace {

constexpr std::size_t kGapBytesMax = 5;

class Varint final : public IndexCoder {
 public:
  [[nodiscard]] IndexCodec wire() const override { return IndexCodec::varint; }
  [[nodiscard]] std::size_t bytes(std::span<const std::uint32_t> indices, std::size_t /*length*/) const override {
    std::size_t total = indices.size();
    std::uint32_t expected = 0;
    for (const std::uint32_t index : indices) {
      const std::uint32_t gap = index - expected;
      expected = index + 1;
      total += static_cast<std::size_t>(gap >= 1U << 7) + static_cast<std::size_t>(gap >= 1U << 14) +
               static_cast<std::size_t>(gap >= 1U << 21) + static_cast<std::size_t>(gap >= 1U << 28);
    }
    return total;
  }

  void encode(std::span<const std::uint32_t> indices, std::size_t length, GradientBlock& block) const override {
    block.index_codec = wire();
    block.rice_bits = 0;
    block.indices.resize(bytes(indices, length));
    std::byte* out = block.indices.data();
    std::uint32_t expected = 0;
    for (const std::uint32_t index : indices) {
      std::uint32_t gap = index - expected;
      expected = index + 1;
      for (; gap >= 128; gap >>= 7) *out++ = static_cast<std::byte>(gap | 128U);
      *out++ = static_cast<std::byte>(gap);
    }
  }

  [[nodiscard]] Status decode(const GradientBlock& block, std::vector<std::uint32_t>& indices) const override {
    if (block.indices.size() < block.count || block.indices.size() > block.count * kGapBytesMax) {
      return {Errc::malformed, "7-bit gaps that do not fit their count"};
    }
    indices.resize(block.count);
    const std::byte* next = block.indices.data();
    const std::byte* const end = next + block.indices.size();
    std::uint64_t expected = 0;
    for (std::uint32_t& out : indices) {
      std::uint64_t gap = 0;
      unsigned shift = 0;
      std::uint64_t byte = 0;
      do {
        if (next == end || shift == 7 * kGapBytesMax) return {Errc::malformed, "a 7-bit gap without end"};
        byte = static_cast<std::uint64_t>(*next++);
        gap |= (byte & 127U) << shift;
        shift += 7;
      } while (byte >= 128);
      if (byte == 0 && shift > 7) return {Errc::malformed, "a 7-bit gap that is longer than it need be"};
      expected += gap;
      if (expected >= block.length) return {Errc::malformed, "an index beyond the block's range"};
      out = static_cast<std::uint32_t>(expected++);
    }
    if (next != end) return {Errc::malformed, "7-bit gaps with bytes behind the last"};
    return {};
  }
};

}  // namespace

const IndexCoder& varint_coder() {
  static const Varint coder;
  return coder;
}

}  // namespace hourglass::compress
