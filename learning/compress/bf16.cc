// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/bf16.h"

#include "learning/compress/kernels.h"

namespace hourglass::compress {
namespace {

class Bf16 final : public ValueCoder {
 public:
  [[nodiscard]] ValueCodec wire() const override { return ValueCodec::bf16; }

  void encode(std::span<const float> values, std::uint64_t /*key*/, GradientBlock& block) const override {
    block.value_codec = wire();
    block.values.resize(values.size() * 2);
    kernels().to_bf16(values.data(), block.values.data(), values.size());
  }

  [[nodiscard]] Status check(const GradientBlock& block) const override {
    if (Status plain = check_plain(block, block.count * 2); !plain.ok()) return plain;
    if (!kernels().finite_bf16(block.values.data(), block.count)) return {Errc::bad_data, "gradient block with a non-finite value"};
    return {};
  }

  void add(const GradientBlock& block, float weight, std::span<float> target) const override {
    kernels().add_bf16(block.values.data(), target.data(), target.size(), weight);
  }

  void scatter_add(const GradientBlock& block, float weight, std::span<const std::uint32_t> indices,
                   std::span<float> target) const override {
    const std::byte* values = block.values.data();
    scatter(indices, target, [&](std::size_t i) {
      std::uint16_t half;
      std::memcpy(&half, values + i * sizeof half, sizeof half);
      return weight * std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
    });
  }
};

}  // namespace

Result<std::unique_ptr<ValueCoder>> make_bf16(const SpecStage& stage) {
  if (Status plain = stage.only({}); !plain.ok()) return plain.error();
  return std::unique_ptr<ValueCoder>(std::make_unique<Bf16>());
}

const ValueCoder& bf16_coder() {
  static const Bf16 coder;
  return coder;
}

}  // namespace hourglass::compress
