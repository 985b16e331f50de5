// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/mxnet_two_bit.h"

#include <array>
#include <cmath>

#include "learning/compress/blob.h"
#include "learning/compress/kernels.h"
#include "learning/compress/value_kernels.h"

namespace hourglass::compress {
namespace {

constexpr double kThreshold = 0.5;
constexpr std::size_t kCodesAt = 4;
constexpr std::size_t kWordValues = 16;

std::size_t words_of(std::size_t count) { return (count + kWordValues - 1) / kWordValues; }

class MxnetTwoBit final : public ValueCoder {
 public:
  explicit MxnetTwoBit(float threshold) : threshold_(threshold) {}

  [[nodiscard]] ValueCodec wire() const override { return ValueCodec::mxnet_two_bit; }

  void encode(std::span<const float> values, std::uint64_t /*key*/, GradientBlock& block) const override {
    block.value_codec = wire();
    block.values.assign(values.empty() ? 0 : kCodesAt + sizeof(std::uint32_t) * words_of(values.size()), std::byte{0});
    if (values.empty()) return;
    write_at(block.values, 0, threshold_);
    value_kernels().pack_threshold(values.data(), values.size(), threshold_, block.values.data() + kCodesAt);
  }

  [[nodiscard]] Status check(const GradientBlock& block) const override {
    if (block.count == 0) return check_plain(block, 0);
    if (Status plain = check_plain(block, kCodesAt + sizeof(std::uint32_t) * words_of(block.count)); !plain.ok()) return plain;
    const auto threshold = read_at<float>(block.values, 0);
    if (!std::isfinite(threshold)) return {Errc::bad_data, "gradient block with a non-finite threshold"};
    if (!(threshold > 0)) return {Errc::malformed, "gradient block with a threshold that is not positive"};
    std::uint32_t bad = 0;
    std::uint32_t word = 0;
    for (std::size_t at = kCodesAt; at < block.values.size(); at += sizeof word) {
      word = read_at<std::uint32_t>(block.values, at);
      bad |= word & 0x55555555U & ~(word >> 1);
    }
    const std::size_t last = block.count % kWordValues;
    if (bad != 0 || (last != 0 && word >> (2 * last) != 0)) return {Errc::malformed, "gradient block with codes that mean nothing"};
    return {};
  }

  void add(const GradientBlock& block, float weight, std::span<float> target) const override {
    if (block.count == 0) return;
    const auto threshold = read_at<float>(block.values, 0);
    const float table[4] = {0, 0, weight * -threshold, weight * threshold};
    kernels().add_two_bits(block.values.data() + kCodesAt, table, target.data(), target.size());
  }

  void scatter_add(const GradientBlock& block, float weight, std::span<const std::uint32_t> indices,
                   std::span<float> target) const override {
    if (block.count == 0) return;
    const auto threshold = read_at<float>(block.values, 0);
    const float table[4] = {0, 0, -threshold, threshold};
    const std::byte* codes = block.values.data() + kCodesAt;
    value_kernels().scatter_codes(codes, 2, {table, 1.0F, weight}, indices.data(), target.data(), indices.size());
  }

 private:
  float threshold_;
};

}  // namespace

Result<std::unique_ptr<ValueCoder>> make_mxnet_two_bit(const SpecStage& stage) {
  if (Status known = stage.only({"threshold"}); !known.ok()) return known.error();
  const auto threshold = stage.number("threshold", kThreshold, 1e-30, 1e30);
  if (!threshold.ok()) return threshold.error();
  return std::unique_ptr<ValueCoder>(std::make_unique<MxnetTwoBit>(static_cast<float>(*threshold)));
}

const ValueCoder& mxnet_two_bit_coder() {
  static const MxnetTwoBit coder(static_cast<float>(kThreshold));
  return coder;
}

}  // namespace hourglass::compress
