// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/warmup.h"

#include <algorithm>
#include <cmath>

namespace hourglass::compress {
namespace {

constexpr double kFromDefault = 0.25;
constexpr std::int64_t kStepsDefault = 1000;
constexpr std::int64_t kStepsMax = 1000000000;

class Warmup final : public RatioPolicy {
 public:
  Warmup(double from, double to, std::uint64_t steps) : from_(from), to_(to), steps_(steps) {}

  void choose(std::span<const std::span<const float>> /*sums*/, std::uint64_t step, std::span<double> ratios) override {
    const double progress = static_cast<double>(step) / static_cast<double>(steps_);
    const double ratio = step >= steps_ ? to_ : std::clamp(from_ * std::pow(to_ / from_, progress), to_, from_);
    std::fill(ratios.begin(), ratios.end(), ratio);
  }

 private:
  double from_;
  double to_;
  std::uint64_t steps_;
};

}  // namespace

Result<std::unique_ptr<RatioPolicy>> make_warmup(const SpecStage& stage, double ratio, std::span<const Shape> /*shapes*/) {
  if (Status known = stage.only({"from", "steps"}); !known.ok()) return known.error();
  const Result<double> from = stage.number("from", std::max(kFromDefault, ratio), ratio, 1.0);
  const Result<std::int64_t> steps = stage.whole("steps", kStepsDefault, 1, kStepsMax);
  if (!from.ok()) return from.error();
  if (!steps.ok()) return steps.error();
  return std::unique_ptr<RatioPolicy>(std::make_unique<Warmup>(*from, ratio, static_cast<std::uint64_t>(*steps)));
}

}  // namespace hourglass::compress
