// SPDX-License-Identifier: Apache-2.0
#include "learning/params/noise_meter.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/random.h"

namespace hourglass::params {
namespace {

TEST(NoiseMeter, IsTheFormula) {
  NoiseMeter meter(2);
  meter.take(std::vector<float>{1, 0}, 8);
  meter.take(std::vector<float>{3, 4}, 8);
  const GradientNoise noise = meter.read();
  EXPECT_DOUBLE_EQ(noise.norm_squared, 2 * 2 + 2 * 2);
  EXPECT_DOUBLE_EQ(noise.variance, 8 * (2.0 * (1 + 4)));  // squared distances from (2, 2): 5 and 5, over n - 1 = 1
}

TEST(NoiseMeter, FindsTheVarianceOfOneSample) {
  constexpr std::size_t kSize = 500;
  constexpr std::uint32_t kBatch = 16;
  Random random(1);
  NoiseMeter meter(kSize);
  for (int step = 0; step < 40; ++step) {
    std::vector<float> mean(kSize, 0.0F);
    for (float& value : mean) {
      double sum = 0;
      for (std::uint32_t i = 0; i < kBatch; ++i) sum += 0.1 + 2 * random.normal();
      value = static_cast<float>(sum / kBatch);
    }
    meter.take(mean, kBatch);
  }
  EXPECT_NEAR(meter.read().variance, 4.0 * kSize, 0.03 * 4 * kSize);
}

TEST(NoiseMeter, SaysNothingWhereItKnowsNothing) {
  NoiseMeter meter(1);
  EXPECT_EQ(meter.read().norm_squared, 0);
  meter.take(std::vector<float>{1}, 4);
  EXPECT_EQ(meter.read().norm_squared, 0);  // one gradient has no variance
  meter.take(std::vector<float>{std::numeric_limits<float>::infinity()}, 4);
  meter.take(std::vector<float>{1}, 4);
  const GradientNoise noise = meter.read();
  EXPECT_EQ(noise.variance, 0);
  EXPECT_EQ(noise.norm_squared, 0);
  meter.take(std::vector<float>{1}, 4);  // what came before is forgotten
  meter.take(std::vector<float>{1}, 4);
  EXPECT_EQ(meter.read().norm_squared, 1);
}

}  // namespace
}  // namespace hourglass::params
