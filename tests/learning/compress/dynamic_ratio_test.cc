// SPDX-License-Identifier: Apache-2.0
// Budgets over a run: see budget_ratio_test.cc.
#include "learning/compress/dynamic_ratio.h"

#include <gtest/gtest.h>

#include "tests/learning/compress/groups.h"

namespace hourglass::compress::testing {
namespace {

/// Straight from the definition.
double naive_importance(const std::vector<float>& values, const Shape& shape, std::ptrdiff_t width) {
  double out = 0;
  const auto rows = static_cast<std::ptrdiff_t>(shape.rows());
  const auto columns = static_cast<std::ptrdiff_t>(shape.columns);
  for (std::ptrdiff_t r = 0; r < rows; ++r) {
    for (std::ptrdiff_t c = 0; c < columns; ++c) {
      std::vector<double> around;
      for (std::ptrdiff_t y = r - width / 2; y <= r + width / 2; ++y) {
        for (std::ptrdiff_t x = c - width / 2; x <= c + width / 2; ++x) {
          if (y >= 0 && y < rows && x >= 0 && x < columns) around.push_back(values[static_cast<std::size_t>(y * columns + x)]);
        }
      }
      double mean = 0;
      for (const double value : around) mean += value / static_cast<double>(around.size());
      double variance = 0;
      for (const double value : around) variance += (value - mean) * (value - mean) / static_cast<double>(around.size());
      out += std::abs(mean) + std::sqrt(variance);
    }
  }
  return out;
}

TEST(DynamicRatio, ImportanceIsTheDefinition) {
  for (const Shape shape : {Shape{12, 4}, Shape{12, 12}, Shape{12, 1}, Shape{1, 1}, Shape{105, 15}}) {
    const auto values = normal_vector(shape.length, shape.length);
    for (const std::size_t width : {1UL, 3UL, 5UL, 31UL}) {
      const double expected = naive_importance(values, shape, static_cast<std::ptrdiff_t>(width));
      EXPECT_NEAR(neighbourhood_importance(values, shape, width), expected, 1e-9 * expected) << shape.columns << " " << width;
    }
  }
  EXPECT_EQ(neighbourhood_importance({}, {0, 0}, 3), 0);
}

TEST(DynamicRatio, WidthOneIsTheSumOfMagnitudes) {
  const auto values = normal_vector(600, 4);
  double sum = 0;
  for (const float value : values) sum += std::abs(value);
  EXPECT_NEAR(neighbourhood_importance(values, {600, 20}, 1), sum, 1e-6);
}

TEST(DynamicRatio, ALayersShareFollowsItsImportance) {
  ErrorFeedback group = group_of("dynamic every=1 average=5 | topk ratio=0.01", {{0, 5000, false, 50}, {5000, 5000, false, 50}});
  std::vector<std::uint64_t> counts;
  for (std::uint64_t step = 0; step < 30; ++step) {
    auto delta = normal_vector(10000, step);
    if (step >= 10) {
      for (std::size_t i = 0; i < 5000; ++i) delta[i] *= 20;
    }
    counts.push_back(compressed(group, delta, step).at(0).count);
  }
  EXPECT_NEAR(static_cast<double>(counts[0]), 50, 3);
  EXPECT_LT(counts[10], counts[12]);  // the average follows by and by
  EXPECT_GT(counts[29], 80U);
}

TEST(DynamicRatio, OptionsAreChecked) {
  EXPECT_NE(refusal_of("dynamic width=4 | topk").find("odd"), std::string::npos);
  EXPECT_NE(refusal_of("dynamic width=33 | topk").find("width"), std::string::npos);
  EXPECT_NE(refusal_of("dynamic by=norm | topk").find("by"), std::string::npos);
}

}  // namespace
}  // namespace hourglass::compress::testing
