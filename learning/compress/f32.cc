// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/f32.h"

#include "learning/compress/kernels.h"

namespace hourglass::compress {
namespace {

class F32 final : public ValueCoder {
 public:
  [[nodiscard]] ValueCodec wire() const override { return ValueCodec::f32; }

  void encode(std::span<const float> values, std::uint64_t /*key*/, GradientBlock& block) const override {
    const auto bytes = std::as_bytes(values);
    block.value_codec = wire();
    block.values.assign(bytes.begin(), bytes.end());
  }

  [[nodiscard]] Status check(const GradientBlock& block) const override {
    if (Status plain = check_plain(block, block.count * sizeof(float)); !plain.ok()) return plain;
    if (!kernels().finite_f32(block.values.data(), block.count)) return {Errc::bad_data, "gradient block with a non-finite value"};
    return {};
  }

  void add(const GradientBlock& block, float weight, std::span<float> target) const override {
    kernels().add_f32(block.values.data(), target.data(), target.size(), weight);
  }

  void scatter_add(const GradientBlock& block, float weight, std::span<const std::uint32_t> indices,
                   std::span<float> target) const override {
    const std::byte* values = block.values.data();
    scatter(indices, target, [&](std::size_t i) {
      float value;
      std::memcpy(&value, values + i * sizeof value, sizeof value);
      return weight * value;
    });
  }
};

}  // namespace

Result<std::unique_ptr<ValueCoder>> make_f32(const SpecStage& stage) {
  if (Status plain = stage.only({}); !plain.ok()) return plain.error();
  return std::unique_ptr<ValueCoder>(std::make_unique<F32>());
}

const ValueCoder& f32_coder() {
  static const F32 coder;
  return coder;
}

Status check_plain(const GradientBlock& block, std::size_t bytes) {
  if (block.values.size() != bytes) return {Errc::malformed, "gradient block whose values do not fit its count"};
  if (block.low != 0 || block.high != 0) return {Errc::malformed, "gradient block with levels that its value codec has not"};
  return {};
}

}  // namespace hourglass::compress
