// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/elias_fano.h"

#include <bit>

#include "learning/compress/bits.h"
#include "learning/compress/kernels.h"

namespace hourglass::compress {
namespace {

struct Layout {
  unsigned low_bits = 0;
  std::uint64_t high_bits = 0;  ///< of the unary part
  std::size_t high_bytes = 0;
  std::size_t low_bytes = 0;
};

/// count <= length.
Layout layout_of(std::uint64_t count, std::uint64_t length) {
  Layout layout;
  if (count == 0) return layout;
  layout.low_bits = static_cast<unsigned>(std::bit_width(length / count)) - 1;
  layout.high_bits = count + ((length - 1) >> layout.low_bits);
  layout.high_bytes = (layout.high_bits + 7) / 8;
  layout.low_bytes = (count * layout.low_bits + 7) / 8;
  return layout;
}

class EliasFano final : public IndexCoder {
 public:
  [[nodiscard]] IndexCodec wire() const override { return IndexCodec::elias_fano; }
  [[nodiscard]] std::size_t bytes(std::span<const std::uint32_t> indices, std::size_t length) const override {
    const Layout layout = layout_of(indices.size(), length);
    return layout.high_bytes + layout.low_bytes;
  }

  void encode(std::span<const std::uint32_t> indices, std::size_t length, GradientBlock& block) const override {
    const Layout layout = layout_of(indices.size(), length);
    block.index_codec = wire();
    block.rice_bits = 0;
    block.indices.assign(layout.high_bytes + layout.low_bytes + 8, std::byte{0});
    std::byte* high = block.indices.data();
    BitWriter low(high + layout.high_bytes);
    const std::uint32_t mask = (1U << layout.low_bits) - 1;
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const std::size_t at = (indices[i] >> layout.low_bits) + i;
      high[at / 8] |= static_cast<std::byte>(1U << (at % 8));
      low.put(indices[i] & mask, layout.low_bits);
    }
    block.indices.resize(layout.high_bytes + layout.low_bytes);
  }

  [[nodiscard]] Status decode(const GradientBlock& block, std::vector<std::uint32_t>& indices) const override {
    const Layout layout = layout_of(block.count, block.length);
    if (block.indices.size() != layout.high_bytes + layout.low_bytes) {
      return {Errc::malformed, "Elias-Fano indices that do not fit their count and range"};
    }
    const std::span<const std::byte> high = std::span(block.indices).first(layout.high_bytes);
    const std::span<const std::byte> low = std::span(block.indices).subspan(layout.high_bytes);
    if (!zeros_behind(high, layout.high_bits) || !zeros_behind(low, block.count * layout.low_bits)) {
      return {Errc::malformed, "Elias-Fano indices with ones behind the last"};
    }
    if (kernels().count_ones(high.data(), high.size()) != block.count) {
      return {Errc::malformed, "Elias-Fano indices whose ones are not the block's count"};
    }
    indices.resize(block.count + kExpandSlack);
    kernels().expand_ones(high.data(), high.size(), indices.data());
    indices.resize(block.count);
    BitReader reader(low);
    const std::uint64_t mask = (1ULL << layout.low_bits) - 1;
    std::uint64_t least = 0;
    bool ascending = true;
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const std::uint64_t index = static_cast<std::uint64_t>(indices[i] - i) << layout.low_bits | (reader.window() & mask);
      reader.skip(layout.low_bits);
      ascending = ascending && index >= least;
      least = index + 1;
      indices[i] = static_cast<std::uint32_t>(index);
    }
    if (!ascending) return {Errc::malformed, "Elias-Fano indices that do not ascend"};
    if (least > block.length) return {Errc::malformed, "an Elias-Fano index beyond the block's range"};
    return {};
  }
};

}  // namespace

const IndexCoder& elias_fano_coder() {
  static const EliasFano coder;
  return coder;
}

}  // namespace hourglass::compress
