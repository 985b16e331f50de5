// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/entropy_ratio.h"

#include <algorithm>
#include <cmath>

#include "learning/compress/choice.h"
#include "learning/compress/kernels.h"

namespace hourglass::compress {
namespace {

struct Options {
  bool budget = false;
  bool by_values = false;
  std::size_t intervals = 0;
  double least = 0;
  double most = 0;
  double gamma = 0;
};

Entropy entropy_of(std::span<const double> weights) {
  Entropy out;
  out.intervals = weights.size();
  double sum = 0;
  for (const double weight : weights) sum += weight;
  if (sum == 0) return out;
  out.known = true;
  for (const double weight : weights) {
    const double share = weight / sum;
    if (share > 0) out.nats -= share * std::log(share);
  }
  out.nats = std::max(0.0, out.nats);
  return out;
}

class EntropyRatio final : public RatioPolicy {
 public:
  EntropyRatio(const Options& options, double ratio, std::span<const Shape> shapes, Scores scores)
      : options_(options), ratio_(ratio), shapes_(shapes.begin(), shapes.end()), scores_(std::move(scores)) {}

  [[nodiscard]] bool looks() const override { return scores_.due(); }

  void choose(std::span<const std::span<const float>> sums, std::uint64_t /*step*/, std::span<double> ratios) override {
    if (scores_.due()) {
      for (std::size_t i = 0; i < sums.size(); ++i) {
        const Entropy entropy = look(sums[i]);
        if (entropy.known) scores_.note(i, entropy.normalised());
      }
      set(ratios);
    }
    scores_.pass();
  }

 private:
  [[nodiscard]] Entropy look(std::span<const float> values) const {
    const std::size_t by_length = std::min<std::size_t>(256, std::max<std::size_t>(8, (values.size() + 63) / 64));
    const std::size_t intervals = options_.intervals == 0 ? by_length : options_.intervals;
    return options_.by_values ? entropy_of_values(values, intervals) : entropy_of_blocks(values, intervals);
  }

  void set(std::span<double> ratios) const {
    std::vector<double> weights;
    for (const double score : scores_.values()) weights.push_back(std::pow(score, options_.gamma));
    if (!options_.budget) {
      for (std::size_t i = 0; i < ratios.size(); ++i) {
        ratios[i] = std::clamp(options_.least + (options_.most - options_.least) * weights[i], options_.least, options_.most);
      }
      return;
    }
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] *= static_cast<double>(shapes_[i].length);
    share_out(ratio_, weights, shapes_, ratios);
  }

  Options options_;
  double ratio_;
  std::vector<Shape> shapes_;
  Scores scores_;
};

}  // namespace

double Entropy::normalised() const { return intervals <= 1 ? 0.0 : std::clamp(nats / std::log(static_cast<double>(intervals)), 0.0, 1.0); }

Entropy entropy_of_blocks(std::span<const float> values, std::size_t intervals) {
  if (values.empty()) return {};
  const std::size_t length = (values.size() + intervals - 1) / intervals;
  std::vector<double> means;
  for (std::size_t begin = 0; begin < values.size(); begin += length) {
    const auto block = values.subspan(begin, std::min(length, values.size() - begin));
    double sum = 0;
    for (const float value : block) sum += std::abs(static_cast<double>(value));
    means.push_back(sum / static_cast<double>(block.size()));
  }
  return entropy_of(means);
}

Entropy entropy_of_values(std::span<const float> values, std::size_t intervals) {
  const double largest = kernels().largest_magnitude(values.data(), values.size());
  if (largest == 0) return {};
  std::vector<double> counts(intervals, 0.0);
  for (const float value : values) {
    const double place = std::abs(static_cast<double>(value)) / largest * static_cast<double>(intervals);
    ++counts[std::min(intervals - 1, static_cast<std::size_t>(place))];
  }
  return entropy_of(counts);
}

Result<std::unique_ptr<RatioPolicy>> make_entropy_ratio(const SpecStage& stage, double ratio, std::span<const Shape> shapes) {
  if (Status known = stage.only({"form", "by", "intervals", "least", "most", "gamma", "every", "average"}); !known.ok())
    return known.error();
  const Result<std::size_t> form = choice_of(stage, "form", {"literal", "budget"});
  const Result<std::size_t> by = choice_of(stage, "by", {"blocks", "values"});
  const Result<std::int64_t> intervals = stage.whole("intervals", 0, 0, 65536);
  const Result<double> least = stage.number("least", 1e-4, kRatioLeast, 1.0);
  if (!least.ok()) return least.error();
  const Result<double> most = stage.number("most", std::max(1e-2, *least), *least, 1.0);
  const Result<double> gamma = stage.number("gamma", 2.0, 0.0, 16.0);
  Result<Scores> scores = Scores::make(stage, shapes.size());
  if (!form.ok()) return form.error();
  if (!by.ok()) return by.error();
  if (!intervals.ok()) return intervals.error();
  if (!most.ok()) return most.error();
  if (!gamma.ok()) return gamma.error();
  if (!scores.ok()) return scores.error();
  const Options options{*form == 1, *by == 1, static_cast<std::size_t>(*intervals), *least, *most, *gamma};
  return std::unique_ptr<RatioPolicy>(std::make_unique<EntropyRatio>(options, ratio, shapes, std::move(scores).value()));
}

}  // namespace hourglass::compress
