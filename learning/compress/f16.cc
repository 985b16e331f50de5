// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/f16.h"

#include "learning/compress/value_kernels.h"

namespace hourglass::compress {
namespace {

class F16 final : public ValueCoder {
 public:
  [[nodiscard]] ValueCodec wire() const override { return ValueCodec::f16; }

  void encode(std::span<const float> values, std::uint64_t /*key*/, GradientBlock& block) const override {
    block.value_codec = wire();
    block.values.resize(values.size() * 2);
    value_kernels().to_f16(values.data(), block.values.data(), values.size());
  }

  [[nodiscard]] Status check(const GradientBlock& block) const override {
    if (Status plain = check_plain(block, block.count * 2); !plain.ok()) return plain;
    if (!value_kernels().finite_f16(block.values.data(), block.count)) return {Errc::bad_data, "gradient block with a non-finite value"};
    return {};
  }

  void add(const GradientBlock& block, float weight, std::span<float> target) const override {
    value_kernels().add_f16(block.values.data(), target.data(), target.size(), weight);
  }

  void scatter_add(const GradientBlock& block, float weight, std::span<const std::uint32_t> indices,
                   std::span<float> target) const override {
    value_kernels().scatter_f16(block.values.data(), indices.data(), target.data(), indices.size(), weight);
  }
};

}  // namespace

Result<std::unique_ptr<ValueCoder>> make_f16(const SpecStage& stage) {
  if (Status plain = stage.only({}); !plain.ok()) return plain.error();
  return std::unique_ptr<ValueCoder>(std::make_unique<F16>());
}

const ValueCoder& f16_coder() {
  static const F16 coder;
  return coder;
}

}  // namespace hourglass::compress
