// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/sbc.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "learning/compress/selection.h"

namespace hourglass::compress {
namespace {

constexpr float kMargin = 0.96F;

/// The entries of one sign, and what is known of them.
struct Side {
  Entries entries;
  std::uint32_t kth = 0;  ///< of more than k
  bool complete = false;  ///< `entries` are the k largest of this sign, or all there are

  [[nodiscard]] double mean() const {
    double sum = 0;
    for (const float value : entries.values) sum += std::abs(static_cast<double>(value));
    return entries.values.empty() ? 0 : sum / static_cast<double>(entries.values.size());
  }
};

class Sbc final : public Selector {
 public:
  explicit Sbc(double ratio) : ratio_(ratio) {}

  bool select(std::span<const float> values, std::uint64_t /*step*/, Entries& chosen) override {
    const std::size_t k = entries_at(ratio_, values.size());
    std::uint32_t threshold = first_threshold(values.size(), k);
    if (threshold == 0) threshold = std::max(1U, sample_threshold(values, 2 * k + k / 2));
    settle(collect(values, threshold, room(values.size(), k), chosen), threshold, k, values, chosen);
    return true;
  }

  Result<bool> add_select(std::span<const float> a, std::span<const float> b, std::span<float> sum, std::uint64_t step,
                          Entries& chosen) override {
    const std::size_t k = entries_at(ratio_, sum.size());
    const std::uint32_t threshold = first_threshold(sum.size(), k);
    if (threshold == 0) return Selector::add_select(a, b, sum, step, chosen);
    const Result<std::size_t> found = add_collect(a, b, sum, threshold, room(sum.size(), k), chosen);
    if (!found.ok()) return found.error();
    settle(*found, threshold, k, sum, chosen);
    return true;
  }

  void set_ratio(double ratio) override { ratio_ = ratio; }

 private:
  /// 0: nothing is known.
  [[nodiscard]] std::uint32_t first_threshold(std::size_t length, std::size_t k) const { return gathers_all(length, 2 * k) ? 1 : guess_; }
  static std::size_t room(std::size_t length, std::size_t k) {
    return gathers_all(length, 2 * k) ? length : std::min(length, 8 * k + 4096);
  }

  void settle(std::size_t found, std::uint32_t threshold, std::size_t k, std::span<const float> values, Entries& chosen) {
    guess_ = 0;
    int winner = -1;
    if (found <= room(values.size(), k)) {
      split(chosen, threshold, k);
      winner = decide(threshold);
    }
    if (winner < 0) {
      search(values, k);
      winner = decide(1);
    }
    const Side& side = sides_[static_cast<std::size_t>(winner)];
    const Side& other = sides_[static_cast<std::size_t>(1 - winner)];
    chosen.indices = side.entries.indices;
    chosen.values = side.entries.values;
    const std::uint32_t kth = side.kth == 0 || other.kth == 0 ? std::max(side.kth, other.kth) : std::min(side.kth, other.kth);
    if (kth != 0) guess_ = std::max(1U, magnitude_bits(std::bit_cast<float>(kth) * kMargin));
  }

  void split(const Entries& chosen, std::uint32_t threshold, std::size_t k) {
    const std::size_t found = chosen.values.size();
    std::array<std::size_t, 2> out = {0, 0};
    for (Side& side : sides_) {
      side.entries.indices.resize(found + 1);
      side.entries.values.resize(found + 1);
    }
    for (std::size_t i = 0; i < found; ++i) {
      const std::size_t sign = std::bit_cast<std::uint32_t>(chosen.values[i]) >> 31;
      sides_[sign].entries.indices[out[sign]] = chosen.indices[i];
      sides_[sign].entries.values[out[sign]++] = chosen.values[i];
    }
    for (std::size_t sign = 0; sign < 2; ++sign) {
      Side& side = sides_[sign];
      side.entries.indices.resize(out[sign]);
      side.entries.values.resize(out[sign]);
      side.complete = out[sign] >= k || threshold == 1;
      side.kth = keep_largest(k, side.entries);
    }
  }

  /// The side to be sent, 0 positive; -1 where what was collected does not tell. Of an incomplete side the rest is below the threshold, so
  /// its mean is at most that of what was collected.
  [[nodiscard]] int decide(std::uint32_t threshold) const {
    std::array<double, 2> most;
    for (std::size_t sign = 0; sign < 2; ++sign) {
      const Side& side = sides_[sign];
      most[sign] = side.entries.values.empty() && !side.complete ? std::bit_cast<float>(threshold) : side.mean();
    }
    const int winner = most[0] >= most[1] ? 0 : 1;
    return sides_[static_cast<std::size_t>(winner)].complete ? winner : -1;
  }

  /// Each side by itself, exactly.
  void search(std::span<const float> values, std::size_t k) {
    std::vector<float> one(values.size());
    for (std::size_t sign = 0; sign < 2; ++sign) {
      for (std::size_t i = 0; i < values.size(); ++i) one[i] = std::bit_cast<std::uint32_t>(values[i]) >> 31 == sign ? values[i] : 0.0F;
      sides_[sign].kth = select_largest(one, k, sides_[sign].entries);
      sides_[sign].complete = true;
    }
  }

  double ratio_;
  std::uint32_t guess_ = 0;  ///< decides about time only
  std::array<Side, 2> sides_;
};

}  // namespace

Result<std::unique_ptr<Selector>> make_sbc(const SpecStage& stage, const Shape& /*shape*/) {
  if (Status known = stage.only({"ratio"}); !known.ok()) return known.error();
  const Result<double> ratio = ratio_of(stage);
  if (!ratio.ok()) return ratio.error();
  return std::unique_ptr<Selector>(std::make_unique<Sbc>(*ratio));
}

}  // namespace hourglass::compress
