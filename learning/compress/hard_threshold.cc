// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/hard_threshold.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "learning/compress/selection.h"

namespace hourglass::compress {
namespace {

/// The least float that is not below `threshold`.
std::uint32_t bits_reaching(double threshold) {
  auto least = static_cast<float>(threshold);
  if (static_cast<double>(least) < threshold) least = std::nextafter(least, FLT_MAX);
  return std::max(1U, magnitude_bits(least));
}

class HardThreshold final : public Selector {
 public:
  HardThreshold(double threshold, double ratio, double cap) : at_least_(bits_reaching(threshold)), ratio_(ratio), cap_(cap) {}

  bool select(std::span<const float> values, std::uint64_t /*step*/, Entries& chosen) override {
    settle(collect(values, at_least_, room(values.size()), chosen), values, chosen);
    return true;
  }

  Result<bool> add_select(std::span<const float> a, std::span<const float> b, std::span<float> sum, std::uint64_t /*step*/,
                          Entries& chosen) override {
    const Result<std::size_t> found = add_collect(a, b, sum, at_least_, room(sum.size()), chosen);
    if (!found.ok()) return found.error();
    settle(*found, sum, chosen);
    return true;
  }

  void set_ratio(double ratio) override { ratio_ = ratio; }

 private:
  [[nodiscard]] std::size_t limit(std::size_t length) const { return entries_at(std::min(1.0, cap_ * ratio_), length); }
  /// Memory for half as many again as last time: the cap is seldom reached.
  [[nodiscard]] std::size_t room(std::size_t length) const { return std::min(limit(length), last_ + last_ / 2 + 4096); }

  void settle(std::size_t found, std::span<const float> values, Entries& chosen) {
    const std::size_t most = limit(values.size());
    const std::size_t tried = room(values.size());
    if (found > tried && tried < most) found = collect(values, at_least_, most, chosen);
    if (found > most) select_largest(values, most, chosen);
    last_ = chosen.indices.size();
  }

  std::uint32_t at_least_;
  double ratio_;
  double cap_;
  std::size_t last_ = 0;  ///< how many were sent; decides about memory only
};

}  // namespace

Result<std::unique_ptr<Selector>> make_hard_threshold(const SpecStage& stage, const Shape& /*shape*/) {
  if (Status known = stage.only({"threshold", "ratio", "cap"}); !known.ok()) return known.error();
  const Result<double> threshold = stage.number("threshold", 1e-3, 1e-44, 3e38);
  if (!threshold.ok()) return threshold.error();
  const Result<double> ratio = ratio_of(stage);
  if (!ratio.ok()) return ratio.error();
  const Result<double> cap = stage.number("cap", 10, 1, 1e9);
  if (!cap.ok()) return cap.error();
  return std::unique_ptr<Selector>(std::make_unique<HardThreshold>(*threshold, *ratio, *cap));
}

}  // namespace hourglass::compress
