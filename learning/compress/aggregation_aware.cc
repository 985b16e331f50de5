// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/aggregation_aware.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "learning/compress/ranking.h"

namespace hourglass::compress {
namespace {

constexpr double kRatioDefault = 0.01;
constexpr double kScaleLeast = 1e-18;  ///< far above what a float can divide by

/// What is known of the published stream, and what it makes of a magnitude.
class Metric {
 public:
  virtual ~Metric() = default;
  virtual void observe(const Entries& published) = 0;
  virtual void score(std::span<const float> values, std::span<float> scores) const = 0;
};

class Window final : public Metric {
 public:
  /// Entries outside the window: of no rank, or of that of their magnitude.
  Window(std::size_t length, std::uint32_t rounds, double lambda, bool others)
      : seen_(length, 0), rounds_(rounds), inside_(static_cast<float>(1 + lambda)), outside_(others ? 1.0F : 0.0F) {}

  void observe(const Entries& published) override {
    if (++round_ == UINT32_MAX) {  // begins anew: for once everything is outside
      std::fill(seen_.begin(), seen_.end(), 0);
      round_ = 1;
    }
    for (std::size_t i = 0; i < published.indices.size(); ++i) {
      if (published.values[i] != 0) seen_[published.indices[i]] = round_;
    }
  }

  void score(std::span<const float> values, std::span<float> scores) const override {
    const std::uint32_t oldest = round_ < rounds_ ? 1 : round_ - rounds_ + 1;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float score = std::abs(values[i]) * (seen_[i] >= oldest ? inside_ : outside_);
      scores[i] = std::min(score, FLT_MAX);
    }
  }

 private:
  std::vector<std::uint32_t> seen_;  ///< last round in which it was published; 0: never
  std::uint32_t round_ = 0;
  std::uint32_t rounds_;
  float inside_;
  float outside_;
};

/// Averages that fade with every round, stored over a common scale, so that a round costs only the entries that are in it.
class Average final : public Metric {
 public:
  Average(std::size_t length, double alpha, double lambda, bool of_values)
      : stored_(length, 0.0F), alpha_(alpha), lambda_(lambda), of_values_(of_values) {}

  void observe(const Entries& published) override {
    scale_ *= 1 - alpha_;
    if (scale_ < kScaleLeast) {
      for (float& each : stored_) each *= static_cast<float>(scale_);
      scale_ = 1;
    }
    const auto weight = static_cast<float>(alpha_ / scale_);
    for (std::size_t i = 0; i < published.indices.size(); ++i) {
      if (published.values[i] == 0) continue;
      float& each = stored_[published.indices[i]];
      each = std::clamp(each + weight * (of_values_ ? published.values[i] : 1.0F), -FLT_MAX, FLT_MAX);
    }
  }

  void score(std::span<const float> values, std::span<float> scores) const override {
    const auto factor = static_cast<float>(lambda_ * scale_);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float magnitude = std::abs(values[i]);
      const float known = factor * std::abs(stored_[i]);
      const float score = of_values_ ? magnitude + known : magnitude + magnitude * known;
      scores[i] = magnitude == 0 ? 0.0F : std::min(score, FLT_MAX);
    }
  }

 private:
  std::vector<float> stored_;
  double scale_ = 1;
  double alpha_;
  double lambda_;
  bool of_values_;
};

class AggregationAware final : public Selector {
 public:
  AggregationAware(double ratio, double explore, std::unique_ptr<Metric> metric, std::size_t length)
      : ratio_(ratio), explore_(explore), metric_(std::move(metric)), length_(length) {}

  bool select(std::span<const float> values, std::uint64_t /*step*/, Entries& chosen) override {
    HG_CHECK(values.size() == length_, "a range keeps its length");
    const std::size_t k = budget_of(ratio_, length_);
    const auto by_magnitude = static_cast<std::size_t>(std::ceil(explore_ * static_cast<double>(k) * (1 - 1e-12)));
    if (!observed_ || by_magnitude >= k) {
      plain_.choose(values, k, chosen);
      return true;
    }
    scores_.resize(length_);
    metric_->score(values, scores_);
    ranked_.choose(scores_, k - by_magnitude, first_);
    std::copy(values.begin(), values.end(), scores_.begin());
    for (const std::uint32_t index : first_.indices) scores_[index] = 0;
    rest_.choose(scores_, k - first_.indices.size(), second_);
    chosen.indices.resize(first_.indices.size() + second_.indices.size());
    std::merge(first_.indices.begin(), first_.indices.end(), second_.indices.begin(), second_.indices.end(), chosen.indices.begin());
    gather(values, chosen);
    return true;
  }

  [[nodiscard]] bool observes() const override { return true; }
  void observe(const Entries& published) override {
    observed_ = true;
    metric_->observe(published);
  }
  void set_ratio(double ratio) override { ratio_ = ratio; }

 private:
  double ratio_;
  double explore_;
  std::unique_ptr<Metric> metric_;
  std::size_t length_;
  bool observed_ = false;
  Ranking plain_, ranked_, rest_;
  Entries first_, second_;
  std::vector<float> scores_;
};

std::string metric_of(const SpecStage& stage) {
  for (const auto& [key, value] : stage.options) {
    if (key == "metric") return value;
  }
  return "recency";
}

/// Errors: bad_config.
Result<std::unique_ptr<Metric>> make_metric(const SpecStage& stage, std::size_t length) {
  const std::string name = metric_of(stage);
  const bool window = name == "recency" || name == "hysteresis";
  if (!window && name != "frequency" && name != "consensus") {
    return {Errc::bad_config, "aggregation_aware: metric '" + name + "' is unknown; there are recency, frequency, consensus, hysteresis"};
  }
  const Status known = name == "recency" ? stage.only({"ratio", "metric", "explore", "window"})
                       : window          ? stage.only({"ratio", "metric", "explore", "window", "lambda"})
                                         : stage.only({"ratio", "metric", "explore", "alpha", "lambda"});
  if (!known.ok()) return known.error();
  const Result<double> lambda = stage.number("lambda", 2, 0, 1e6);
  if (!lambda.ok()) return lambda.error();
  const Result<double> alpha = stage.number("alpha", 0.1, 1e-6, 1);
  if (!alpha.ok()) return alpha.error();
  const Result<std::int64_t> rounds = stage.whole("window", 1, 1, 1'000'000);
  if (!rounds.ok()) return rounds.error();
  if (window) {
    const bool recency = name == "recency";
    return std::unique_ptr<Metric>(std::make_unique<Window>(length, static_cast<std::uint32_t>(*rounds), recency ? 0 : *lambda, !recency));
  }
  return std::unique_ptr<Metric>(std::make_unique<Average>(length, *alpha, *lambda, name == "consensus"));
}

}  // namespace

Result<std::unique_ptr<Selector>> make_aggregation_aware(const SpecStage& stage, const Shape& shape) {
  auto metric = make_metric(stage, shape.length);
  if (!metric.ok()) return metric.error();
  const Result<double> ratio = ratio_of(stage, kRatioDefault);
  if (!ratio.ok()) return ratio.error();
  const Result<double> explore = stage.number("explore", 0.2, 0, 1);
  if (!explore.ok()) return explore.error();
  return std::unique_ptr<Selector>(std::make_unique<AggregationAware>(*ratio, *explore, std::move(metric).value(), shape.length));
}

}  // namespace hourglass::compress
