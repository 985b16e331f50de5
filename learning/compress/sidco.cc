// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/sidco.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "learning/compress/tail_fit.h"
#include "learning/compress/threshold_selector.h"

namespace hourglass::compress {
namespace {

constexpr int kFitsPerChange = 5;
constexpr double kHigh = 1.2;
constexpr double kLow = 0.8;
constexpr std::int64_t kStagesMax = 20;

/// The number of stages, from how well the last fits did.
class StageCount {
 public:
  explicit StageCount(int stages) : stages_(stages) {}
  [[nodiscard]] int in_use(double ratio) const { return std::min(stages_, most(ratio)); }

  void learn(double found_per_wanted, double ratio) {
    sum_ += found_per_wanted;
    if (++fits_ < kFitsPerChange) return;
    const double mean = sum_ / fits_;
    sum_ = 0;
    fits_ = 0;
    const double error = std::abs(std::log(std::max(mean, 1e-3)));
    if (mean >= kLow && mean <= kHigh) {
      last_error_ = 0;
      return;
    }
    if (last_error_ != 0 && error > last_error_) sense_ = -sense_;
    last_error_ = error;
    int change = mean > kHigh ? -sense_ : sense_;
    const int now = in_use(ratio);
    if (now + change < 1 || now + change > most(ratio)) {
      sense_ = -sense_;
      change = -change;
    }
    stages_ = std::clamp(now + change, 1, most(ratio));
  }

 private:
  static int most(double ratio) { return std::max(1, static_cast<int>(std::ceil(-std::log2(ratio)))); }

  int stages_;
  int fits_ = 0;
  double sum_ = 0;
  int sense_ = 1;  ///< 1: more stages find more
  double last_error_ = 0;
};

class Sidco final : public ThresholdSelector {
 public:
  Sidco(double ratio, TailShape shape, int stages, std::int64_t reuse) : ThresholdSelector(ratio, reuse), shape_(shape), stages_(stages) {}

 private:
  [[nodiscard]] std::size_t room(std::size_t /*length*/, std::size_t k) const override { return 2 * k; }

  bool accept(std::size_t found, std::size_t /*length*/, std::size_t k, Entries& /*chosen*/) override {
    return 2 * found >= k && found <= 2 * k;
  }

  void search(std::span<const float> values, std::size_t k, std::uint64_t /*step*/, Entries& chosen) override {
    const double threshold = staged_threshold(values, k, shape_, stages_.in_use(ratio()));
    if (threshold == 0) return select_all(values, k, chosen);
    // What exceeds it; what equals it does not: it may be all there is.
    const std::uint32_t at_least = magnitude_bits(static_cast<float>(threshold)) + 1;
    const std::size_t most = std::min(values.size(), 3 * k + 1024);
    const std::size_t found = collect(values, at_least, most, chosen);
    stages_.learn(static_cast<double>(found) / static_cast<double>(k), ratio());
    reused().set(at_least);
    if (found > most) {
      select_largest(values, 2 * k, chosen);
    } else if (2 * found < k) {
      select_largest(values, k, chosen);
    } else {
      keep_largest(2 * k, chosen);
    }
  }

  /// There are at most k.
  static void select_all(std::span<const float> values, std::size_t k, Entries& chosen) { collect(values, 1, k, chosen); }

  TailShape shape_;
  StageCount stages_;
};

Result<TailShape> shape_of(const SpecStage& stage) {
  for (const auto& [key, value] : stage.options) {
    if (key != "dist") continue;
    if (value == "exponential") return TailShape::exponential;
    if (value == "gamma") return TailShape::gamma;
    if (value == "gpareto") return TailShape::gpareto;
    return {Errc::bad_config, "sidco dist=" + value + " is unknown; there are exponential, gamma, gpareto"};
  }
  return TailShape::exponential;
}

}  // namespace

Result<std::unique_ptr<Selector>> make_sidco(const SpecStage& stage, const Shape& /*shape*/) {
  if (Status known = stage.only({"ratio", "dist", "stages", "reuse"}); !known.ok()) return known.error();
  const Result<double> ratio = ratio_of(stage);
  if (!ratio.ok()) return ratio.error();
  const Result<TailShape> shape = shape_of(stage);
  if (!shape.ok()) return shape.error();
  const Result<std::int64_t> stages = stage.whole("stages", 2, 1, kStagesMax);
  if (!stages.ok()) return stages.error();
  const Result<std::int64_t> reuse = stage.whole("reuse", 1, 1, 1000);
  if (!reuse.ok()) return reuse.error();
  return std::unique_ptr<Selector>(std::make_unique<Sidco>(*ratio, *shape, static_cast<int>(*stages), *reuse));
}

}  // namespace hourglass::compress
