// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/two_level.h"

#include <array>
#include <cmath>
#include <vector>

#include "learning/compress/kernels.h"

namespace hourglass::compress {
namespace {

constexpr int kIterationsMax = 10;
constexpr std::size_t kSampleMax = 16384;

/// Half-way, but always below `high`, so that each level codes to itself even where the two are neighbours.
float boundary_of(Levels levels) {
  const auto middle = static_cast<float>(0.5 * (static_cast<double>(levels.low) + levels.high));
  return middle < levels.high ? middle : levels.low;
}

/// Each level becomes the mean of its side; one without values stays.
Levels refine(std::span<const float> values, Levels levels) {
  const LevelSums sums = kernels().level_sums(values.data(), values.size(), boundary_of(levels));
  const std::size_t low_count = values.size() - sums.high_count;
  if (low_count > 0) levels.low = static_cast<float>(sums.low / static_cast<double>(low_count));
  if (sums.high_count > 0) levels.high = static_cast<float>(sums.high / static_cast<double>(sums.high_count));
  return levels;
}

std::vector<float> sample_of(std::span<const float> values) {
  const std::size_t stride = values.size() / kSampleMax;
  std::vector<float> sample;
  sample.reserve(values.size() / stride + 1);
  for (std::size_t i = 0; i < values.size(); i += stride) sample.push_back(values[i]);
  return sample;
}

class TwoLevel final : public ValueCoder {
 public:
  [[nodiscard]] ValueCodec wire() const override { return ValueCodec::two_level; }

  void encode(std::span<const float> values, std::uint64_t /*key*/, GradientBlock& block) const override {
    const Levels levels = fit_levels(values);
    block.value_codec = wire();
    block.low = levels.low;
    block.high = levels.high;
    block.values.resize((values.size() + 3) / 4);
    kernels().pack_two_bits(values.data(), values.size(), boundary_of(levels), block.values.data());
  }

  [[nodiscard]] Status check(const GradientBlock& block) const override {
    if (block.values.size() != (block.count + 3) / 4) return {Errc::malformed, "gradient block whose values do not fit its count"};
    if (block.count % 4 != 0 && static_cast<unsigned>(block.values.back()) >> (2 * (block.count % 4)) != 0) {
      return {Errc::malformed, "gradient block with bits behind its last value"};
    }
    if (!std::isfinite(block.low) || !std::isfinite(block.high)) return {Errc::bad_data, "gradient block with a non-finite level"};
    if (!(block.low >= 0 && block.low <= block.high)) return {Errc::malformed, "gradient block whose levels are not 0 <= low <= high"};
    if (block.count == 0 && block.high != 0) return {Errc::malformed, "gradient block with levels but without values"};
    return {};
  }

  void add(const GradientBlock& block, float weight, std::span<float> target) const override {
    kernels().add_two_bits(block.values.data(), table_of(block, weight).data(), target.data(), target.size());
  }

  void scatter_add(const GradientBlock& block, float weight, std::span<const std::uint32_t> indices,
                   std::span<float> target) const override {
    const auto table = table_of(block, weight);
    const std::byte* codes = block.values.data();
    scatter(indices, target, [&](std::size_t i) { return table[static_cast<unsigned>(codes[i / 4]) >> (2 * (i % 4)) & 3U]; });
  }

 private:
  static std::array<float, 4> table_of(const GradientBlock& block, float weight) {
    return {weight * block.low, weight * block.high, weight * -block.low, weight * -block.high};
  }
};

}  // namespace

Levels fit_levels(std::span<const float> values) {
  if (values.empty()) return {};
  const MagnitudeRange range = kernels().magnitudes(values.data(), values.size());
  if (range.low == range.high) return {range.low, range.high};
  Levels levels{range.low, static_cast<float>(0.5 * (static_cast<double>(range.low) + range.high))};
  const bool sampled = values.size() >= 4 * kSampleMax;
  const std::vector<float> sample = sampled ? sample_of(values) : std::vector<float>();
  const std::span<const float> seen = sampled ? std::span<const float>(sample) : values;
  for (int iteration = 0; iteration < kIterationsMax; ++iteration) {
    const Levels next = refine(seen, levels);
    const bool settled = next.low == levels.low && next.high == levels.high;
    levels = next;
    if (settled) break;
  }
  return sampled ? refine(values, levels) : levels;
}

Result<std::unique_ptr<ValueCoder>> make_two_level(const SpecStage& stage) {
  if (Status plain = stage.only({}); !plain.ok()) return plain.error();
  return std::unique_ptr<ValueCoder>(std::make_unique<TwoLevel>());
}

const ValueCoder& two_level_coder() {
  static const TwoLevel coder;
  return coder;
}

}  // namespace hourglass::compress
