// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/budget_ratio.h"

#include <cmath>

#include "learning/compress/choice.h"
#include "learning/compress/kernels.h"

namespace hourglass::compress {
namespace {

class BudgetRatio final : public RatioPolicy {
 public:
  BudgetRatio(bool by_norm, double ratio, std::span<const Shape> shapes, Scores scores)
      : by_norm_(by_norm), ratio_(ratio), shapes_(shapes.begin(), shapes.end()), scores_(std::move(scores)) {}

  [[nodiscard]] bool looks() const override { return scores_.due(); }

  void choose(std::span<const std::span<const float>> sums, std::uint64_t /*step*/, std::span<double> ratios) override {
    if (scores_.due()) {
      for (std::size_t i = 0; i < sums.size(); ++i) {
        const double energy = kernels().sum_of_squares(sums[i].data(), sums[i].size());
        scores_.note(i, by_norm_ ? std::sqrt(energy) : energy);
      }
      share_out(ratio_, scores_.values(), shapes_, ratios);
    }
    scores_.pass();
  }

 private:
  bool by_norm_;
  double ratio_;
  std::vector<Shape> shapes_;
  Scores scores_;
};

}  // namespace

Result<std::unique_ptr<RatioPolicy>> make_budget_ratio(const SpecStage& stage, double ratio, std::span<const Shape> shapes) {
  if (Status known = stage.only({"by", "every", "average"}); !known.ok()) return known.error();
  const Result<std::size_t> by = choice_of(stage, "by", {"energy", "norm"});
  Result<Scores> scores = Scores::make(stage, shapes.size());
  if (!by.ok()) return by.error();
  if (!scores.ok()) return scores.error();
  return std::unique_ptr<RatioPolicy>(std::make_unique<BudgetRatio>(*by == 1, ratio, shapes, std::move(scores).value()));
}

}  // namespace hourglass::compress
