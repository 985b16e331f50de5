// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/rice.h"

#include <bit>

#include "learning/compress/bits.h"

namespace hourglass::compress {
namespace {

constexpr unsigned kBitsMax = 31;
constexpr unsigned kPiece = 56;  ///< bits that one step of the bit streams takes

std::uint64_t cost_bits(std::span<const std::uint32_t> indices, unsigned parameter) {
  std::uint64_t ones = indices.front() >> parameter;
  for (std::size_t i = 1; i < indices.size(); ++i) ones += (indices[i] - indices[i - 1] - 1) >> parameter;
  return ones + indices.size() * (parameter + 1ULL);
}

struct Choice {
  unsigned parameter = 0;
  std::uint64_t bits = 0;
};

/// Cost over the parameter has one valley: walk down from the mean gap's logarithm.
Choice cheapest(std::span<const std::uint32_t> indices) {
  if (indices.empty()) return {};
  const std::uint64_t mean = (indices.back() + 1ULL - indices.size()) / indices.size();
  Choice best;
  best.parameter = mean == 0 ? 0 : static_cast<unsigned>(std::bit_width(mean)) - 1;
  best.bits = cost_bits(indices, best.parameter);
  const unsigned start = best.parameter;
  for (unsigned parameter = start + 1; parameter <= kBitsMax; ++parameter) {
    const std::uint64_t bits = cost_bits(indices, parameter);
    if (bits >= best.bits) break;
    best = {parameter, bits};
  }
  if (best.parameter != start) return best;
  for (unsigned parameter = start; parameter-- > 0;) {
    const std::uint64_t bits = cost_bits(indices, parameter);
    if (bits >= best.bits) break;
    best = {parameter, bits};
  }
  return best;
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
    BitWriter writer(block.indices.data());
    const std::uint64_t mask = (1ULL << b) - 1;
    std::uint32_t expected = 0;
    for (const std::uint32_t index : indices) {
      const std::uint32_t gap = index - expected;
      expected = index + 1;
      std::uint32_t ones = gap >> b;
      while (ones + 1 + b > kPiece) [[unlikely]] {
          const std::uint32_t piece = ones < kPiece ? ones : kPiece;
          writer.put((1ULL << piece) - 1, piece);
          ones -= piece;
        }
      writer.put(((1ULL << ones) - 1) | (gap & mask) << (ones + 1), ones + 1 + b);
    }
    block.indices.resize(size);
  }

  [[nodiscard]] Status decode(const GradientBlock& block, std::vector<std::uint32_t>& indices) const override {
    const unsigned b = block.rice_bits;
    if (b > kBitsMax) return {Errc::malformed, "a Rice parameter beyond 31"};
    const std::uint64_t bits = block.indices.size() * 8ULL;
    if (block.count * (b + 1ULL) > bits) return {Errc::malformed, "Rice codes that do not fit their count"};
    indices.resize(block.count);
    BitReader reader(block.indices);
    const std::uint64_t mask = (1ULL << b) - 1;
    const std::uint64_t ones_max = block.length >> b;
    std::uint64_t expected = 0;
    for (std::uint32_t& out : indices) {
      const std::uint64_t window = reader.window();
      auto ones = static_cast<std::uint64_t>(std::countr_one(window));
      if (ones + 1 + b > kPiece) [[unlikely]] {
        ones = long_run(reader, ones_max);
        expected += (ones << b) + (reader.window() & mask);
        reader.skip(b);
      } else {
        expected += (ones << b) + (window >> (ones + 1) & mask);
        reader.skip(static_cast<unsigned>(ones) + 1 + b);
      }
      if (expected >= block.length) return {Errc::malformed, "a Rice-coded index beyond the block's range"};
      out = static_cast<std::uint32_t>(expected++);
    }
    return check_end(reader, block, bits);
  }

 private:
  /// Consumes a unary number of any length and its zero; stops early above `ones_max`, which no valid index reaches.
  static std::uint64_t long_run(BitReader& reader, std::uint64_t ones_max) {
    std::uint64_t ones = 0;
    while (ones <= ones_max) {
      const auto piece = static_cast<unsigned>(std::countr_one(reader.window()));
      if (piece < kPiece) {
        reader.skip(piece + 1);
        return ones + piece;
      }
      reader.skip(kPiece);
      ones += kPiece;
    }
    return ones;
  }

  static Status check_end(BitReader& reader, const GradientBlock& block, std::uint64_t bits) {
    const std::uint64_t used = reader.position();
    if (used > bits || (used + 7) / 8 != block.indices.size()) return {Errc::malformed, "Rice codes that do not fit their blob"};
    if (used < bits && static_cast<unsigned>(block.indices.back()) >> (8 - (bits - used)) != 0) {
      return {Errc::malformed, "Rice codes with ones behind the last"};
    }
    return {};
  }
};

}  // namespace

const IndexCoder& rice_coder() {
  static const Rice coder;
  return coder;
}

}  // namespace hourglass::compress
