// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/raw.h"

namespace hourglass::compress {
namespace {

class Raw final : public IndexCoder {
 public:
  [[nodiscard]] IndexCodec wire() const override { return IndexCodec::raw; }
  [[nodiscard]] std::size_t bytes(std::span<const std::uint32_t> indices, std::size_t /*length*/) const override {
    return indices.size_bytes();
  }

  void encode(std::span<const std::uint32_t> indices, std::size_t /*length*/, GradientBlock& block) const override {
    block.index_codec = wire();
    block.rice_bits = 0;
    block.indices = to_bytes(indices);
  }

  [[nodiscard]] Status decode(const GradientBlock& block, std::vector<std::uint32_t>& indices) const override {
    if (block.indices.size() != block.count * sizeof(std::uint32_t)) return {Errc::malformed, "raw indices do not fit their count"};
    indices = from_bytes<std::uint32_t>(block.indices);
    bool ascending = true;
    for (std::size_t i = 1; i < indices.size(); ++i) ascending = ascending && indices[i - 1] < indices[i];
    if (!ascending) return {Errc::malformed, "raw indices do not ascend"};
    if (!indices.empty() && indices.back() >= block.length) return {Errc::malformed, "an index beyond the block's range"};
    return {};
  }
};

}  // namespace

const IndexCoder& raw_coder() {
  static const Raw coder;
  return coder;
}

}  // namespace hourglass::compress
