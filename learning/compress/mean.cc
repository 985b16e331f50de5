// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/mean.h"

#include <cmath>

#include "learning/compress/blob.h"
#include "learning/compress/value_kernels.h"

namespace hourglass::compress {
namespace {

constexpr std::size_t kMeanAt = 1;
constexpr std::size_t kSignsAt = 5;

enum class Sides : std::uint8_t { both, none_negative, all_negative };

Sides sides_of(const GradientBlock& block) { return static_cast<Sides>(block.values[0]); }

class Mean final : public ValueCoder {
 public:
  [[nodiscard]] ValueCodec wire() const override { return ValueCodec::mean; }

  void encode(std::span<const float> values, std::uint64_t /*key*/, GradientBlock& block) const override {
    block.value_codec = wire();
    block.values.clear();
    if (values.empty()) return;
    const SideSums sums = value_kernels().side_sums(values.data(), values.size());
    const Sides sides = sums.negative_count == 0               ? Sides::none_negative
                        : sums.negative_count == values.size() ? Sides::all_negative
                                                               : Sides::both;
    block.values.resize(kSignsAt + (sides == Sides::both ? packed_bytes(values.size(), 1) : 0));
    write_at(block.values, 0, sides);
    write_at(block.values, kMeanAt, static_cast<float>((sums.positive + sums.negative) / static_cast<double>(values.size())));
    if (sides == Sides::both) value_kernels().pack_signs(values.data(), values.size(), block.values.data() + kSignsAt);
  }

  [[nodiscard]] Status check(const GradientBlock& block) const override {
    if (block.count == 0) return check_plain(block, 0);
    if (block.values.empty() || sides_of(block) > Sides::all_negative) return {Errc::malformed, "gradient block without its signs"};
    const bool both = sides_of(block) == Sides::both;
    if (Status plain = check_plain(block, kSignsAt + (both ? packed_bytes(block.count, 1) : 0)); !plain.ok()) return plain;
    if (both && !is_padded_with_zeros(block.values, block.count, 1)) {
      return {Errc::malformed, "gradient block with bits behind its last value"};
    }
    const auto mean = read_at<float>(block.values, kMeanAt);
    if (!std::isfinite(mean)) return {Errc::bad_data, "gradient block with a non-finite mean"};
    if (std::signbit(mean)) return {Errc::malformed, "gradient block with a negative mean"};
    return {};
  }

  void add(const GradientBlock& block, float weight, std::span<float> target) const override {
    if (block.count == 0) return;
    const auto mean = read_at<float>(block.values, kMeanAt);
    if (sides_of(block) == Sides::both) {
      const float table[2] = {mean, -mean};
      value_kernels().add_codes(block.values.data() + kSignsAt, 1, {table, 1.0F, weight}, target.data(), target.size());
      return;
    }
    const float value = weight * (sides_of(block) == Sides::all_negative ? -mean : mean);
    for (float& each : target) each += value;
  }

  void scatter_add(const GradientBlock& block, float weight, std::span<const std::uint32_t> indices,
                   std::span<float> target) const override {
    if (block.count == 0) return;
    const auto mean = read_at<float>(block.values, kMeanAt);
    if (sides_of(block) == Sides::both) {
      const float table[2] = {mean, -mean};
      const std::byte* signs = block.values.data() + kSignsAt;
      value_kernels().scatter_codes(signs, 1, {table, 1.0F, weight}, indices.data(), target.data(), indices.size());
      return;
    }
    const float value = weight * (sides_of(block) == Sides::all_negative ? -mean : mean);
    for (const std::uint32_t index : indices) target[index] += value;
  }
};

}  // namespace

Result<std::unique_ptr<ValueCoder>> make_mean(const SpecStage& stage) {
  if (Status plain = stage.only({}); !plain.ok()) return plain.error();
  return std::unique_ptr<ValueCoder>(std::make_unique<Mean>());
}

const ValueCoder& mean_coder() {
  static const Mean coder;
  return coder;
}

}  // namespace hourglass::compress
