// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/rice.h"

#include <algorithm>
#include <bit>

#include "learning/compress/bits.h"
#include "learning/compress/kernels.h"

namespace hourglass::compress {
namespace {

constexpr unsigned kBitsMax = 31;

struct Choice {
  unsigned parameter = 0;
  std::uint64_t bits = UINT64_MAX;
};

/// Cost over the parameter has one valley, near the mean gap's logarithm: a window of parameters that slides down, or up, to it.
Choice cheapest(std::span<const std::uint32_t> indices) {
  if (indices.empty()) return {0, 0};
  const std::uint64_t mean = (indices.back() + 1ULL - indices.size()) / indices.size();
  const unsigned near = mean == 0 ? 0 : static_cast<unsigned>(std::bit_width(mean)) - 1;
  constexpr unsigned kLastWindow = kBitsMax + 1 - kGapSums;
  unsigned first = std::min(near < 2 ? 0 : near - 2, kLastWindow);
  for (int direction = 0;;) {
    std::uint64_t sums[kGapSums];
    kernels().gap_sums(indices.data(), indices.size(), first, sums);
    Choice best;
    for (unsigned j = 0; j < kGapSums; ++j) {
      const std::uint64_t bits = sums[j] + indices.size() * (first + j + 1ULL);
      if (bits < best.bits) best = {first + j, bits};
    }
    const bool down = best.parameter == first && first > 0 && direction <= 0;
    const bool up = best.parameter == first + kGapSums - 1 && first < kLastWindow && direction >= 0;
    if (!down && !up) return best;
    direction = down ? -1 : 1;
    first = down ? first - std::min(first, kGapSums - 1) : std::min(first + kGapSums - 1, kLastWindow);
  }
}

class Rice final : public IndexCoder {
 public:
  [[nodiscard]] IndexCodec wire() const override { return IndexCodec::rice; }
  [[nodiscard]] std::size_t bytes(std::span<const std::uint32_t> indices, std::size_t /*length*/) const override {
    return (cheapest(indices).bits + 7) / 8;
  }

  void encode(std::span<const std::uint32_t> indices, std::size_t /*length*/, GradientBlock& block) const override {
    const Choice choice = cheapest(indices);
    const unsigned b = choice.parameter;
    const std::size_t size = (choice.bits + 7) / 8;
    block.index_codec = wire();
    block.rice_bits = static_cast<std::uint8_t>(b);
    block.indices.resize(size + 8);
    kernels().rice_encode(indices.data(), indices.size(), b, block.indices.data());
    block.indices.resize(size);
  }

  [[nodiscard]] Status decode(const GradientBlock& block, std::vector<std::uint32_t>& indices) const override {
    const unsigned b = block.rice_bits;
    if (b > kBitsMax) return {Errc::malformed, "a Rice parameter beyond 31"};
    const std::uint64_t bits = block.indices.size() * 8ULL;
    if (block.count * (b + 1ULL) > bits) return {Errc::malformed, "Rice codes that do not fit their count"};
    indices.resize(block.count);
    const std::uint64_t used =
        kernels().rice_decode({block.indices.data(), block.indices.size(), block.count, block.length, b}, indices.data());
    if (used == kRiceBeyond) return {Errc::malformed, "a Rice-coded index beyond the block's range"};
    if (used > bits || (used + 7) / 8 != block.indices.size()) return {Errc::malformed, "Rice codes that do not fit their blob"};
    if (!zeros_behind(block.indices, used)) return {Errc::malformed, "Rice codes with ones behind the last"};
    return {};
  }
};

}  // namespace

const IndexCoder& rice_coder() {
  static const Rice coder;
  return coder;
}

}  // namespace hourglass::compress
