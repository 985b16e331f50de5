// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/low_rank.h"

#include <algorithm>
#include <vector>

#include "learning/compress/factors.h"
#include "learning/compress/outer_sum.h"
#include "learning/compress/power_iteration.h"

namespace hourglass::compress {
namespace {

constexpr std::uint64_t kSeed = 0x5eedf001;

class LowRank final : public Transform {
 public:
  LowRank(std::size_t rank, const Shape& shape) : rank_(rank), shape_(shape) {}

  void encode(std::span<const float> values, std::uint64_t /*key*/, GradientBlock& block) override {
    if (!worth_factoring(shape_, rank_)) return write_dense(values, block);
    if (right_.empty()) right_ = random_basis(rank_, shape_.columns, kSeed);
    refresh(right_, rank_, kSeed);
    const ScaledMatrix scaled(values, shape_);
    const std::vector<float> left = power_step(scaled.view(), right_, rank_);
    write_scaled(ValueCodec::low_rank, left, right_, rank_, scaled.factor(), block);
  }

 private:
  std::size_t rank_;
  Shape shape_;
  std::vector<float> right_;
};

}  // namespace

Result<std::unique_ptr<Transform>> make_low_rank(const SpecStage& stage, const Shape& shape) {
  if (Status known = stage.only({"rank"}); !known.ok()) return known.error();
  const auto rank = stage.whole("rank", 4, 1, kLowRankMax);
  if (!rank.ok()) return rank.error();
  return std::unique_ptr<Transform>(std::make_unique<LowRank>(static_cast<std::size_t>(*rank), shape));
}

}  // namespace hourglass::compress
