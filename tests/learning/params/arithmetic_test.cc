// SPDX-License-Identifier: Apache-2.0
#include "learning/params/arithmetic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace hourglass::params {
namespace {

TEST(Arithmetic, AddsAndTellsFiniteFromNot) {
  std::vector<float> sum(1000, 1.0F);
  std::vector<float> step(1000);
  for (std::size_t i = 0; i < step.size(); ++i) step[i] = static_cast<float>(i);
  add(sum, step);
  for (std::size_t i = 0; i < sum.size(); ++i) ASSERT_EQ(sum[i], 1.0F + static_cast<float>(i));
  EXPECT_TRUE(all_finite(sum));
  EXPECT_TRUE(all_finite({}));
  for (const float bad : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(), std::nanf("")}) {
    sum.back() = bad;
    EXPECT_FALSE(all_finite(sum));
  }
}

TEST(Arithmetic, C9_AnUnusableGradientLeavesTheOptimizerAsItWas) {
  for (const char* spec : {"sgd", "sgd momentum=0.9", "sgd momentum=0.9999 nesterov=1", "adam", "adamw", "amsgrad"}) {
    const std::vector<float> parameters(40, 0.5F);
    const auto tried = make_optimizer(spec, 1e-4, parameters.size()).value();
    const auto spared = make_optimizer(spec, 1e-4, parameters.size()).value();
    for (int round = 0; round < 20; ++round) {
      std::vector<float> gradient(parameters.size(), 0.1F * static_cast<float>(round));
      std::vector<float> same = gradient;
      ASSERT_TRUE(step_if_usable(*tried, parameters, gradient, 0.1));
      ASSERT_TRUE(step_if_usable(*spared, parameters, same, 0.1));
      ASSERT_EQ(gradient, same) << spec;
      for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity(), -3e38F}) {
        std::vector<float> unusable(parameters.size(), 1.0F);
        unusable[static_cast<std::size_t>(round)] = bad;
        ASSERT_FALSE(step_if_usable(*tried, parameters, unusable, 0.1));
        ASSERT_EQ(unusable, std::vector<float>(parameters.size())) << "no step";
      }
    }
  }
}

TEST(Arithmetic, C9_TheLargestUsableGradientsStayFinite) {
  const std::vector<float> parameters(8);
  const auto optimizer = make_optimizer("sgd momentum=0.9999 nesterov=1", 0, parameters.size()).value();
  for (int round = 0; round < 100000; ++round) {
    std::vector<float> gradient(parameters.size(), kGradientMax);
    ASSERT_TRUE(step_if_usable(*optimizer, parameters, gradient, 0.1));
    ASSERT_TRUE(all_finite(gradient)) << round;
  }
}

}  // namespace
}  // namespace hourglass::params
