// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/ratio_policy.h"

#include <algorithm>
#include <cmath>

namespace hourglass::compress {
namespace {

constexpr std::int64_t kCallsDefault = 10;
constexpr std::int64_t kCallsMax = 1000000;

}  // namespace

Scores::Scores(std::size_t ranges, std::uint64_t every, std::uint64_t average)
    : values_(ranges, 0.0),
      known_(ranges, false),
      every_(every),
      weight_(1 - std::pow(1 - 1 / static_cast<double>(average), static_cast<double>(every))) {}

Result<Scores> Scores::make(const SpecStage& stage, std::size_t ranges) {
  const Result<std::int64_t> every = stage.whole("every", kCallsDefault, 1, kCallsMax);
  const Result<std::int64_t> average = stage.whole("average", kCallsDefault, 1, kCallsMax);
  if (!every.ok()) return every.error();
  if (!average.ok()) return average.error();
  return Scores(ranges, static_cast<std::uint64_t>(*every), static_cast<std::uint64_t>(*average));
}

void Scores::note(std::size_t range, double score) {
  values_[range] = known_[range] ? values_[range] + weight_ * (score - values_[range]) : score;
  known_[range] = true;
}

void share_out(double share, std::span<const double> weights, std::span<const Shape> shapes, std::span<double> ratios) {
  double left = 0;
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    ratios[i] = 1;
    left += share * static_cast<double>(shapes[i].length);
    if (shapes[i].length > 0) open.push_back(i);
  }
  const auto length = [&](std::size_t i) { return static_cast<double>(shapes[i].length); };
  while (!open.empty()) {  // each round settles one range at least
    double weight = 0;
    double lengths = 0;
    for (const std::size_t i : open) {
      weight += weights[i];
      lengths += length(i);
    }
    const auto wanted = [&](std::size_t i) { return left * (weight > 0 ? weights[i] / weight : length(i) / lengths); };
    std::vector<std::size_t> next;
    double taken = 0;
    for (const std::size_t i : open) {
      if (wanted(i) >= length(i)) {
        taken += length(i);
      } else {
        next.push_back(i);
      }
    }
    if (next.size() == open.size()) {
      for (const std::size_t i : open) ratios[i] = std::clamp(wanted(i) / length(i), kRatioLeast, 1.0);
      return;
    }
    left = std::max(0.0, left - taken);
    open = std::move(next);
  }
}

}  // namespace hourglass::compress
