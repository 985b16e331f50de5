// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/u8.h"

#include "learning/compress/buckets.h"

namespace hourglass::compress {
namespace {

constexpr std::size_t kChunk = 4096;

class U8 final : public ValueCoder {
 public:
  explicit U8(std::size_t chunk) : form_{chunk, kLevelsMost} {}

  [[nodiscard]] ValueCodec wire() const override { return ValueCodec::u8; }

  void encode(std::span<const float> values, std::uint64_t /*key*/, GradientBlock& block) const override {
    block.value_codec = wire();
    encode_buckets(values, form_, largest_of, false, 0, block.values);
  }

  [[nodiscard]] Status check(const GradientBlock& block) const override { return check_buckets(block, kLevelsMost); }

  void add(const GradientBlock& block, float weight, std::span<float> target) const override { add_buckets(block, weight, target); }

  void scatter_add(const GradientBlock& block, float weight, std::span<const std::uint32_t> indices,
                   std::span<float> target) const override {
    scatter_buckets(block, weight, indices, target);
  }

 private:
  Buckets form_;
};

}  // namespace

Result<std::unique_ptr<ValueCoder>> make_u8(const SpecStage& stage) {
  if (Status known = stage.only({"chunk"}); !known.ok()) return known.error();
  const auto chunk = bucket_option(stage, "chunk", kChunk);
  if (!chunk.ok()) return chunk.error();
  return std::unique_ptr<ValueCoder>(std::make_unique<U8>(*chunk));
}

const ValueCoder& u8_coder() {
  static const U8 coder(kChunk);
  return coder;
}

}  // namespace hourglass::compress
