// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/random_block.h"

#include <numeric>

#include "base/random.h"
#include "learning/compress/selection.h"

namespace hourglass::compress {
namespace {

constexpr std::int64_t kSeedMax = 1LL << 53;

/// Where `step` is in its round's order: position -> (first + stride * position) mod blocks, stride coprime to blocks.
std::uint64_t block_of(std::uint64_t seed, std::uint64_t step, std::uint64_t blocks) {
  Random random(seed * 0x9e3779b97f4a7c15ULL ^ step / blocks);
  const std::uint64_t first = random.below(blocks);
  std::uint64_t stride = 1 + random.below(blocks);
  while (std::gcd(stride, blocks) != 1) stride = 1 + random.below(blocks);
  return (first + stride * (step % blocks)) % blocks;  // blocks < 2^32: no overflow
}

class RandomBlock final : public Selector {
 public:
  RandomBlock(double ratio, std::uint64_t seed) : ratio_(ratio), seed_(seed) {}

  bool select(std::span<const float> values, std::uint64_t step, Entries& chosen) override {
    chosen.indices.clear();
    chosen.values.clear();
    const std::size_t length = values.size();
    if (length == 0) return true;
    const std::size_t k = entries_at(ratio_, length);
    const std::size_t blocks = (length + k - 1) / k;
    const std::size_t block = block_of(seed_, step, blocks);
    const std::size_t end = (block + 1) * length / blocks;
    chosen.indices.reserve(k);
    chosen.values.reserve(k);
    for (std::size_t i = block * length / blocks; i < end; ++i) {
      if (values[i] == 0) continue;
      chosen.indices.push_back(static_cast<std::uint32_t>(i));
      chosen.values.push_back(values[i]);
    }
    return true;
  }

  void set_ratio(double ratio) override { ratio_ = ratio; }

 private:
  double ratio_;
  std::uint64_t seed_;
};

}  // namespace

Result<std::unique_ptr<Selector>> make_random_block(const SpecStage& stage, const Shape& /*shape*/) {
  if (Status known = stage.only({"ratio", "seed"}); !known.ok()) return known.error();
  const Result<double> ratio = ratio_of(stage);
  if (!ratio.ok()) return ratio.error();
  const Result<std::int64_t> seed = stage.whole("seed", 0, 0, kSeedMax);
  if (!seed.ok()) return seed.error();
  return std::unique_ptr<Selector>(std::make_unique<RandomBlock>(*ratio, static_cast<std::uint64_t>(*seed)));
}

}  // namespace hourglass::compress
