// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/sign.h"

#include <array>
#include <cmath>

#include "learning/compress/blob.h"
#include "learning/compress/value_kernels.h"

namespace hourglass::compress {
namespace {

constexpr std::size_t kPositiveAt = 4;
constexpr std::size_t kSignsAt = 8;

float mean_of(double sum, std::size_t count) { return count == 0 ? 0.0F : static_cast<float>(sum / static_cast<double>(count)); }

std::array<float, 2> table_of(const GradientBlock& block) {
  return {read_at<float>(block.values, kPositiveAt), -read_at<float>(block.values, 0)};
}

class Sign final : public ValueCoder {
 public:
  [[nodiscard]] ValueCodec wire() const override { return ValueCodec::sign; }

  void encode(std::span<const float> values, std::uint64_t /*key*/, GradientBlock& block) const override {
    block.value_codec = wire();
    block.values.clear();
    if (values.empty()) return;
    const SideSums sums = value_kernels().side_sums(values.data(), values.size());
    block.values.resize(kSignsAt + packed_bytes(values.size(), 1));
    write_at(block.values, 0, mean_of(sums.negative, sums.negative_count));
    write_at(block.values, kPositiveAt, mean_of(sums.positive, values.size() - sums.negative_count));
    value_kernels().pack_signs(values.data(), values.size(), block.values.data() + kSignsAt);
  }

  [[nodiscard]] Status check(const GradientBlock& block) const override {
    if (block.count == 0) return check_plain(block, 0);
    if (Status plain = check_plain(block, kSignsAt + packed_bytes(block.count, 1)); !plain.ok()) return plain;
    if (!is_padded_with_zeros(block.values, block.count, 1)) return {Errc::malformed, "gradient block with bits behind its last value"};
    for (const std::size_t at : {std::size_t{0}, kPositiveAt}) {
      const auto mean = read_at<float>(block.values, at);
      if (!std::isfinite(mean)) return {Errc::bad_data, "gradient block with a non-finite mean"};
      if (std::signbit(mean)) return {Errc::malformed, "gradient block with a negative mean"};
    }
    return {};
  }

  void add(const GradientBlock& block, float weight, std::span<float> target) const override {
    if (block.count == 0) return;
    const auto table = table_of(block);
    value_kernels().add_codes(block.values.data() + kSignsAt, 1, {table.data(), 1.0F, weight}, target.data(), target.size());
  }

  void scatter_add(const GradientBlock& block, float weight, std::span<const std::uint32_t> indices,
                   std::span<float> target) const override {
    if (block.count == 0) return;
    const auto table = table_of(block);
    const std::byte* signs = block.values.data() + kSignsAt;
    value_kernels().scatter_codes(signs, 1, {table.data(), 1.0F, weight}, indices.data(), target.data(), indices.size());
  }
};

}  // namespace

Result<std::unique_ptr<ValueCoder>> make_sign(const SpecStage& stage) {
  if (Status plain = stage.only({}); !plain.ok()) return plain.error();
  return std::unique_ptr<ValueCoder>(std::make_unique<Sign>());
}

const ValueCoder& sign_coder() {
  static const Sign coder;
  return coder;
}

}  // namespace hourglass::compress
