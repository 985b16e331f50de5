// SPDX-License-Identifier: Apache-2.0
#include "learning/params/adaptive_batch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"

namespace hourglass::params {
namespace {

std::uint64_t updated(AdaptiveBatch& batch, double variance, double norm_squared) {
  return batch.update(std::vector<GradientNoise>{{variance, norm_squared}});
}

TEST(AdaptiveBatch, GrowsToTheRuleAndNoFurther) {
  AdaptiveBatch batch(32, 1000, 0.5);
  EXPECT_EQ(updated(batch, 32 * 0.25, 1.0), 32U);  // just tolerated
  EXPECT_EQ(updated(batch, 12.6, 1.0), 51U);       // ceil(12.6 / 0.25)
  EXPECT_EQ(updated(batch, 12.6, 1.0), 51U);
  EXPECT_EQ(updated(batch, 1e6, 1.0), 1000U);
  EXPECT_EQ(batch.batch(), 1000U);
}

TEST(AdaptiveBatch, NoVarianceChangesNothingNoGradientAsksForAll) {
  AdaptiveBatch batch(8, 256, 0.8);
  EXPECT_EQ(updated(batch, 0, 1.0), 8U);
  EXPECT_EQ(updated(batch, 0, 0), 8U);
  EXPECT_EQ(batch.update({}), 8U);
  EXPECT_EQ(updated(batch, 1e-30, 0), 256U);
}

TEST(AdaptiveBatch, NeverFalls) {
  AdaptiveBatch batch(1, 4096, 0.9);
  Random random(7);
  std::uint64_t last = 1;
  for (int round = 0; round < 2000; ++round) {
    const double variance = std::exp(random.normal() * 2);
    const double norm_squared = std::exp(random.normal() * 2);
    const std::uint64_t next = updated(batch, variance, norm_squared);
    ASSERT_GE(next, last);
    ASSERT_LE(next, 4096U);
    ASSERT_TRUE(next == 4096 || variance / static_cast<double>(next) <= 0.81 * norm_squared * (1 + 1e-12));
    last = next;
  }
  EXPECT_GT(last, 1U);
}

TEST(AdaptiveBatch, WorkersAreAveragedAndBadOnesDoNotCount) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  AdaptiveBatch batch(1, 1000, 1.0);
  EXPECT_EQ(batch.update(std::vector<GradientNoise>{{nan, 1}, {1, HUGE_VAL}, {-1, 1}, {1, -1}}), 1U);
  EXPECT_EQ(batch.update(std::vector<GradientNoise>{{10, 1}, {nan, 1}, {30, 3}}), 10U);  // 20 / 2
  EXPECT_EQ(batch.update(std::vector<GradientNoise>{{1e308, 1}, {1e308, 1}}), 1000U);
}

}  // namespace
}  // namespace hourglass::params
