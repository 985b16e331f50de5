// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/clt_k.h"

#include "learning/compress/ranking.h"

namespace hourglass::compress {
namespace {

constexpr double kRatioDefault = 0.01;

class CyclicTopK final : public Selector {
 public:
  explicit CyclicTopK(double ratio) : ratio_(ratio) {}

  bool select(std::span<const float> values, std::uint64_t step, Entries& chosen) override {
    const std::size_t k = budget_of(ratio_, values.size());
    const bool announces = step % 2 == 0;
    const bool leads = seat_.count <= 1 || last_.indices.empty() || (announces && step / 2 % seat_.count == seat_.number % seat_.count);
    if (leads) {
      own_.choose(values, k, chosen);
      return true;
    }
    chosen.indices.clear();
    chosen.values.clear();
    if (!announces) follow(values, k, chosen);
    return true;
  }

  [[nodiscard]] bool observes() const override { return true; }
  void observe(const Entries& published) override {
    next_.indices.clear();
    next_.values.clear();
    for (std::size_t i = 0; i < published.indices.size(); ++i) {
      if (published.values[i] == 0) continue;
      next_.indices.push_back(published.indices[i]);
      next_.values.push_back(published.values[i]);
    }
    if (!next_.indices.empty()) std::swap(last_, next_);
  }
  void take_seat(const Seat& seat) override { seat_ = seat; }
  void set_ratio(double ratio) override { ratio_ = ratio; }

 private:
  void follow(std::span<const float> values, std::size_t k, Entries& chosen) {
    const auto take = [&](std::uint32_t index) {
      if (values[index] == 0) return;
      chosen.indices.push_back(index);
      chosen.values.push_back(values[index]);
    };
    if (last_.indices.size() <= k) {
      for (const std::uint32_t index : last_.indices) take(index);
      return;
    }
    agreed_.choose(last_.values, k, next_);
    for (const std::uint32_t position : next_.indices) take(last_.indices[position]);
  }

  double ratio_;
  Seat seat_;
  Entries last_;  ///< published and not 0
  Entries next_;  ///< for a while
  Ranking own_, agreed_;
};

}  // namespace

Result<std::unique_ptr<Selector>> make_clt_k(const SpecStage& stage, const Shape& /*shape*/) {
  if (Status known = stage.only({"ratio"}); !known.ok()) return known.error();
  const Result<double> ratio = ratio_of(stage, kRatioDefault);
  if (!ratio.ok()) return ratio.error();
  return std::unique_ptr<Selector>(std::make_unique<CyclicTopK>(*ratio));
}

}  // namespace hourglass::compress
