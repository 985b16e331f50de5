// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/bitmap.h"

#include "learning/compress/kernels.h"

namespace hourglass::compress {
namespace {

class Bitmap final : public IndexCoder {
 public:
  [[nodiscard]] IndexCodec wire() const override { return IndexCodec::bitmap; }
  [[nodiscard]] std::size_t bytes(std::span<const std::uint32_t> /*indices*/, std::size_t length) const override {
    return (length + 7) / 8;
  }

  void encode(std::span<const std::uint32_t> indices, std::size_t length, GradientBlock& block) const override {
    block.index_codec = wire();
    block.rice_bits = 0;
    block.indices.assign((length + 7) / 8, std::byte{0});
    for (const std::uint32_t index : indices) block.indices[index / 8] |= static_cast<std::byte>(1U << (index % 8));
  }

  [[nodiscard]] Status decode(const GradientBlock& block, std::vector<std::uint32_t>& indices) const override {
    const Bytes& bits = block.indices;
    if (bits.size() != (block.length + 7) / 8) return {Errc::malformed, "a bitmap that does not fit the block's range"};
    if (block.length % 8 != 0 && static_cast<unsigned>(bits.back()) >> (block.length % 8) != 0) {
      return {Errc::malformed, "a bitmap with ones behind the block's range"};
    }
    if (kernels().count_ones(bits.data(), bits.size()) != block.count)
      return {Errc::malformed, "a bitmap whose ones are not the block's count"};
    indices.resize(block.count + kExpandSlack);
    kernels().expand_ones(bits.data(), bits.size(), indices.data());
    indices.resize(block.count);
    return {};
  }
};

}  // namespace

const IndexCoder& bitmap_coder() {
  static const Bitmap coder;
  return coder;
}

}  // namespace hourglass::compress
