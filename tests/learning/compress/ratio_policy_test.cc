// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/ratio_policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace hourglass::compress::testing {
namespace {

double entries(std::span<const double> ratios, std::span<const Shape> shapes) {
  double sum = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (shapes[i].length == 0) continue;
    sum += std::max(1.0, std::ceil(ratios[i] * static_cast<double>(shapes[i].length) * (1 - 1e-12)));
  }
  return sum;
}

std::vector<double> shared(double share, const std::vector<double>& weights, const std::vector<Shape>& shapes) {
  std::vector<double> ratios(shapes.size());
  share_out(share, weights, shapes, ratios);
  return ratios;
}

TEST(ShareOut, ByHand) {
  const std::vector<Shape> shapes = {Shape::vector(100), Shape::vector(200), Shape::vector(700)};
  EXPECT_EQ(shared(0.1, {1, 1, 2}, shapes), (std::vector<double>{0.25, 0.125, 50.0 / 700}));
  EXPECT_EQ(shared(0.5, {1, 0, 1}, shapes),
            (std::vector<double>{1, kRatioLeast, 400.0 / 700}));  // the first is full, the last gets the rest
  const auto rest = shared(0.5, {1, 0, 0}, shapes);
  EXPECT_EQ(rest[0], 1);
  EXPECT_DOUBLE_EQ(rest[1], 400.0 / 900);
  EXPECT_DOUBLE_EQ(rest[2], 400.0 / 900);
  EXPECT_EQ(shared(0.25, {0, 0, 0}, shapes), (std::vector<double>{0.25, 0.25, 0.25}));
  EXPECT_EQ(shared(1, {1, 2, 3}, shapes), (std::vector<double>{1, 1, 1}));
  EXPECT_TRUE(shared(0.5, {}, {}).empty());
}

TEST(ShareOut, TotalIsWithinTheNumberOfRangesAndMonotoneInWeight) {
  Random random(5);
  for (int round = 0; round < 2000; ++round) {
    std::vector<Shape> shapes;
    std::vector<double> weights;
    double total = 0;
    for (std::size_t i = 0, count = 1 + random.below(12); i < count; ++i) {
      shapes.push_back(Shape::vector(random.below(6) == 0 ? random.below(3) : 1 + random.below(100000)));
      weights.push_back(random.below(5) == 0 ? 0.0 : std::exp(random.normal() * 6));
      total += static_cast<double>(shapes.back().length);
    }
    const double share = std::exp(-8.0 * random.uniform());
    const auto ratios = shared(share, weights, shapes);
    for (const double ratio : ratios) ASSERT_TRUE(ratio > 0 && ratio <= 1);
    const double sent = entries(ratios, shapes);
    const auto ranges = static_cast<double>(shapes.size());
    ASSERT_LE(std::abs(sent - share * total), ranges + 1e-6 * total) << round;
    for (std::size_t i = 0; i + 1 < shapes.size(); ++i) {
      if (shapes[i].length == 0 || shapes[i + 1].length == 0) continue;
      const double a = ratios[i] * static_cast<double>(shapes[i].length);
      const double b = ratios[i + 1] * static_cast<double>(shapes[i + 1].length);
      const bool least = weights[i] == 0 || ratios[i] == kRatioLeast || ratios[i + 1] == kRatioLeast;
      if (!least && weights[i] >= weights[i + 1] && ratios[i] < 1) {
        ASSERT_GE(a * (1 + 1e-9), b);
      }
    }
  }
}

TEST(Scores, LookEveryFewCallsAndAverageOverCalls) {
  Scores scores(1, 3, 3);
  const double weight = 1 - std::pow(2.0 / 3, 3);
  std::vector<bool> due;
  for (int call = 0; call < 7; ++call) {
    due.push_back(scores.due());
    if (scores.due()) scores.note(0, call);
    scores.pass();
  }
  EXPECT_EQ(due, (std::vector<bool>{true, false, false, true, false, false, true}));
  EXPECT_DOUBLE_EQ(scores.values()[0], 3 * weight + weight * (6 - 3 * weight));
  Scores last(1, 1, 1);
  last.note(0, 5);
  last.note(0, 7);
  EXPECT_EQ(last.values()[0], 7);
}

}  // namespace
}  // namespace hourglass::compress::testing
