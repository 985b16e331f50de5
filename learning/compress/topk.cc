// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/topk.h"

#include <algorithm>

namespace hourglass::compress {
namespace {

/// The threshold for the next call: the last k-th magnitude times a factor that follows how well the last guesses did. Under error feedback
/// the k-th magnitude grows from step to step, and many entries wait just below it, so no fixed margin is right.
class Guess {
 public:
  [[nodiscard]] std::uint32_t bits() const { return kth_ == 0 ? 0 : magnitude_bits(std::bit_cast<float>(kth_) * factor_); }
  void forget() { *this = Guess(); }
  /// 0: all were taken; what was known still holds.
  void remember(std::uint32_t kth) {
    if (kth != 0) kth_ = kth;
  }
  void learn(std::size_t found, std::size_t k) {
    const double excess = static_cast<double>(found) / static_cast<double>(k);
    if (excess < 1) {
      factor_ *= 0.96F;
    } else if (excess < 1.3) {
      factor_ *= 0.99F;
    } else if (excess > 1.7) {
      factor_ *= static_cast<float>(1 + 0.02 * std::min(excess - 1.5, 3.0));
    }
    factor_ = std::clamp(factor_, 0.5F, 1.5F);
  }

 private:
  std::uint32_t kth_ = 0;  ///< magnitude bits; 0: nothing known
  float factor_ = 0.92F;
};

class TopK final : public Selector {
 public:
  explicit TopK(double ratio) : ratio_(ratio) {}

  bool select(std::span<const float> values, std::uint64_t /*step*/, Entries& chosen) override {
    const std::size_t k = begin(values.size(), chosen);
    if (k == 0) return true;
    if (const std::uint32_t guess = guess_.bits(); guess != 0 && !gathers_all(values.size(), k)) {
      const std::size_t found = collect(values, guess, capacity(values.size(), k), chosen);
      guess_.learn(found, k);
      if (collected_well(found, k, chosen)) return true;
    }
    guess_.remember(select_largest(values, k, chosen));
    return true;
  }

  Result<bool> add_select(std::span<const float> a, std::span<const float> b, std::span<float> sum, std::uint64_t step,
                          Entries& chosen) override {
    const std::size_t k = begin(sum.size(), chosen);
    const std::uint32_t guess = guess_.bits();
    if (k == 0 || guess == 0 || gathers_all(sum.size(), k)) return Selector::add_select(a, b, sum, step, chosen);
    const Result<std::size_t> found = add_collect(a, b, sum, guess, capacity(sum.size(), k), chosen);
    if (!found.ok()) return found.error();
    guess_.learn(*found, k);
    if (!collected_well(*found, k, chosen)) guess_.remember(select_largest(sum, k, chosen));
    return true;
  }

  void set_ratio(double ratio) override { ratio_ = ratio; }

 private:
  std::size_t begin(std::size_t length, Entries& chosen) {
    chosen.indices.clear();
    chosen.values.clear();
    if (length != length_) guess_.forget();
    length_ = length;
    return entries_at(ratio_, length);
  }
  static std::size_t capacity(std::size_t length, std::size_t k) { return std::min(length, 4 * k + 4096); }

  /// Whether the k largest are among what was collected; then only they are left.
  bool collected_well(std::size_t found, std::size_t k, Entries& chosen) {
    if (found < k || found > capacity(length_, k)) return false;
    guess_.remember(keep_largest(k, chosen));
    return true;
  }

  double ratio_;
  std::size_t length_ = 0;
  Guess guess_;
};

}  // namespace

Result<std::unique_ptr<Selector>> make_topk(const SpecStage& stage, const Shape& /*shape*/) {
  if (Status known = stage.only({"ratio"}); !known.ok()) return known.error();
  const Result<double> ratio = ratio_of(stage);
  if (!ratio.ok()) return ratio.error();
  return std::unique_ptr<Selector>(std::make_unique<TopK>(*ratio));
}

}  // namespace hourglass::compress
