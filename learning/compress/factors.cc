// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/factors.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "learning/compress/f32.h"
#include "learning/compress/kernels.h"
#include "learning/compress/outer_sum.h"

namespace hourglass::compress {
namespace {

constexpr std::uint64_t kSeed = 0x5eedf002;
constexpr float kLargeInput = 0x1p50F;
constexpr float kSmallInput = 0x1p-40F;

class Factors final : public Transform {
 public:
  Factors(std::size_t rank, std::size_t steps, const Shape& shape) : rank_(rank), steps_(steps), shape_(shape) {}

  void encode(std::span<const float> values, std::uint64_t /*key*/, GradientBlock& block) override {
    if (!worth_factoring(shape_, rank_)) return write_dense(values, block);
    std::vector<float> right = random_basis(rank_, shape_.columns, kSeed);
    const ScaledMatrix scaled(values, shape_);
    std::vector<float> left;
    for (std::size_t step = 0; step < steps_; ++step) {
      refresh(right, rank_, kSeed);
      left = power_step(scaled.view(), right, rank_);
    }
    write_scaled(ValueCodec::factors, left, right, rank_, scaled.factor(), block);
  }

 private:
  std::size_t rank_;
  std::size_t steps_;
  Shape shape_;
};

}  // namespace

ScaledMatrix::ScaledMatrix(std::span<const float> values, const Shape& shape) : view_{values, shape.rows(), shape.columns} {
  const float largest = kernels().largest_magnitude(values.data(), values.size());
  if (largest == 0 || (largest < kLargeInput && largest > kSmallInput)) return;
  factor_ = std::ldexp(1.0, -std::ilogb(largest));
  copy_.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) copy_[i] = static_cast<float>(values[i] * factor_);
  view_.values = copy_;
}

void write_scaled(ValueCodec wire, std::span<const float> left, std::span<const float> right, std::size_t rank, double factor,
                  GradientBlock& block) {
  double scale = 1 / factor;
  if (const double bound = outer_bound(left, right, rank) * scale; bound > FLT_MAX / 2) scale *= FLT_MAX / 2 / bound;
  std::vector<float> out(right.size());
  for (std::size_t i = 0; i < right.size(); ++i) {
    out[i] = static_cast<float>(std::clamp<double>(right[i] * scale, -FLT_MAX, FLT_MAX));
  }
  write_outer(wire, left, out, rank, block);
}

bool worth_factoring(const Shape& shape, std::size_t rank) {
  return shape.rows() > 1 && rank * (shape.rows() + shape.columns) + 2 < shape.length;
}

void write_dense(std::span<const float> values, GradientBlock& block) { f32_coder().encode(values, 0, block); }

Result<GradientBlock> factor_gradient(const MatrixView& activations, const MatrixView& deltas, const FactorOptions& options) {
  if (activations.rows != deltas.rows || activations.rows == 0) {
    return {Errc::bad_config,
            "factors of " + std::to_string(activations.rows) + " activations and " + std::to_string(deltas.rows) + " deltas"};
  }
  const std::size_t rank = options.rank == 0 ? activations.rows : options.rank;
  if (rank > kFactorsMax) return {Errc::over_limit, "a block has at most " + std::to_string(kFactorsMax) + " factors"};
  GradientBlock block;
  block.length = block.count = deltas.columns * activations.columns;
  if (options.rank == 0 || options.rank >= activations.rows) {
    const double bound = outer_bound(deltas.values, activations.values, activations.rows);
    if (!(bound <= FLT_MAX)) return {Errc::bad_data, "factors that are not finite, or whose products are not"};
    write_outer(ValueCodec::factors, deltas.values, activations.values, activations.rows, block);
    return block;
  }
  std::vector<float> right = random_basis(rank, activations.columns, kSeed);
  std::vector<float> left;
  for (std::size_t step = 0; step < options.steps; ++step) {
    refresh(right, rank, kSeed);
    left = power_step(deltas, activations, right, rank);
  }
  if (!(outer_bound(left, right, rank) <= FLT_MAX)) return {Errc::bad_data, "factors that are not finite, or whose products are not"};
  write_outer(ValueCodec::factors, left, right, rank, block);
  return block;
}

Result<std::unique_ptr<Transform>> make_factors(const SpecStage& stage, const Shape& shape) {
  if (Status known = stage.only({"rank", "steps"}); !known.ok()) return known.error();
  const auto rank = stage.whole("rank", 4, 1, kLowRankMax);
  if (!rank.ok()) return rank.error();
  const auto steps = stage.whole("steps", 3, 1, 16);
  if (!steps.ok()) return steps.error();
  return std::unique_ptr<Transform>(std::make_unique<Factors>(static_cast<std::size_t>(*rank), static_cast<std::size_t>(*steps), shape));
}

}  // namespace hourglass::compress
