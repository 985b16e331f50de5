// SPDX-License-Identifier: Apache-2.0
// See memory_test.cc for the recursion itself.
#include "learning/compress/low_pass.h"

#include <gtest/gtest.h>

#include "tests/learning/compress/groups.h"

namespace hourglass::compress::testing {
namespace {

TEST(LowPass, BetaOneIsErrorFeedback) {
  for (const char* codecs : {"topk ratio=0.01", "topk ratio=0.01 | two_level | rice", "dense | bf16"}) {
    ErrorFeedback filtered = group_of(std::string("low_pass beta=1 | ") + codecs, 3000);
    ErrorFeedback feedback = group_of(codecs, 3000);
    for (std::uint64_t step = 0; step < 10; ++step) {
      const auto delta = normal_vector(3000, step);
      EXPECT_TRUE(equal(compressed(filtered, delta, step).at(0), compressed(feedback, delta, step).at(0)));
      ASSERT_EQ(residual_of(filtered), residual_of(feedback));
    }
    EXPECT_TRUE(filtered.conserves());
  }
}

TEST(LowPass, WhatIsHeldFollowsTheUpdates) {
  const float beta = 0.1F;
  ErrorFeedback group = group_of("low_pass | topk ratio=0.01 | two_level", 3000);
  for (std::uint64_t step = 0; step < 20; ++step) {
    const auto before = residual_of(group);
    const auto delta = normal_vector(3000, step);
    const auto sent = sum_of(compressed(group, delta, step), 3000);
    for (std::size_t i = 0; i < 3000; ++i) ASSERT_NEAR(group.residual()[i] + beta * sent[i], before[i] + beta * delta[i], 1e-5);
  }
  EXPECT_FALSE(group.conserves());
}

TEST(LowPass, OptionsAreChecked) {
  EXPECT_NE(refusal_of("low_pass beta=0 | topk").find("beta"), std::string::npos);
  EXPECT_NE(refusal_of("low_pass beta=1.1 | topk").find("beta"), std::string::npos);
  EXPECT_NE(refusal_of("low_pass decay=1 | topk").find("decay"), std::string::npos);
}

}  // namespace
}  // namespace hourglass::compress::testing
