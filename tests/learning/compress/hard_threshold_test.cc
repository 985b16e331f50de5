// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/hard_threshold.h"

#include <gtest/gtest.h>

#include "learning/compress/error_feedback.h"
#include "tests/learning/compress/selectors.h"

namespace hourglass::compress::testing {
namespace {

TEST(HardThreshold, SendsWhatReachesItAndNothingElse) {
  const std::vector<float> values = {0.5F, -0.5F, 0.49F, 0, -3, std::nextafter(0.5F, 0.0F)};
  const auto selector = selector_of("hard_threshold threshold=0.5 ratio=1");
  EXPECT_EQ(selected(*selector, values).indices, (std::vector<std::uint32_t>{0, 1, 4}));
  EXPECT_EQ(selected_of_sum(*selector, values).indices, (std::vector<std::uint32_t>{0, 1, 4}));
}

TEST(HardThreshold, AThresholdBetweenTwoFloatsMeansTheUpper) {
  const float below = 0.1F;  // slightly above 0.1 as a double: reached
  const float less = std::nextafter(below, 0.0F);
  const auto selector = selector_of("hard_threshold threshold=0.1 ratio=1");
  EXPECT_EQ(selected(*selector, std::vector<float>{below, less}).indices, (std::vector<std::uint32_t>{0}));
}

TEST(HardThreshold, T03_EveryResidualIsBelowIt) {
  const std::size_t length = 100000;
  auto feedback = ErrorFeedback::make("hard_threshold threshold=1.25 ratio=0.1 cap=10", {{0, length, false}}, length);
  ASSERT_TRUE(feedback.ok());
  for (std::uint64_t step = 0; step < 6; ++step) {
    ASSERT_TRUE(feedback->compress(normal_vector(length, step), step).ok());
    const auto residual = feedback->residual();
    ASSERT_TRUE(std::all_of(residual.begin(), residual.end(), [](float value) { return std::abs(value) < 1.25F; }));
    EXPECT_LE(feedback->residual_norm(), std::sqrt(static_cast<double>(length)) * 1.25);
  }
}

TEST(HardThreshold, TheCapBoundsTheSizeAndKeepsTheLargest) {
  const auto selector = selector_of("hard_threshold threshold=0.001 ratio=0.01 cap=2");
  for (const std::size_t length : {10UL, 1000UL, 200000UL}) {
    const auto values = normal_vector(length, length);
    const std::size_t most = entries_at(0.02, length);
    EXPECT_EQ(selected(*selector, values).indices, largest_of(values, most));
    EXPECT_EQ(selected_of_sum(*selector, values).indices, largest_of(values, most));
  }
}

TEST(HardThreshold, ARatioPolicyMovesTheCap) {
  const auto values = normal_vector(10000, 1);
  const auto selector = selector_of("hard_threshold threshold=0.001 ratio=0.01 cap=2");
  selector->set_ratio(0.1);
  EXPECT_EQ(selected(*selector, values).indices.size(), 2000U);
}

TEST(HardThreshold, ManyMoreThanLastTimeAreFoundToo) {
  const auto selector = selector_of("hard_threshold threshold=1 ratio=0.1 cap=10");
  const std::vector<float> quiet(100000, 0.5F);
  const std::vector<float> loud(100000, -1.5F);
  EXPECT_TRUE(selected(*selector, quiet).indices.empty());
  EXPECT_EQ(selected(*selector, loud).indices.size(), loud.size());
  EXPECT_TRUE(selected_of_sum(*selector, quiet).indices.empty());
  EXPECT_EQ(selected_of_sum(*selector, loud).indices.size(), loud.size());
}

TEST(HardThreshold, C5_TheLastPlaceIsSent) { EXPECT_TRUE(sends_the_last("hard_threshold threshold=5")); }

TEST(HardThreshold, RefusesOptionsOutsideTheirRanges) {
  EXPECT_TRUE(refuses({"hard_threshold threshold=0", "hard_threshold threshold=-1", "hard_threshold threshold=nan",
                       "hard_threshold cap=0.5", "hard_threshold ratio=0", "hard_threshold k=5"}));
}

}  // namespace
}  // namespace hourglass::compress::testing
