// SPDX-License-Identifier: Apache-2.0
// See memory_test.cc for what all memories do.
#include "learning/compress/feedback.h"

#include <gtest/gtest.h>

#include "tests/learning/compress/groups.h"

namespace hourglass::compress::testing {
namespace {

TEST(Feedback, IsTheDefaultWithTheSameBlocks) {
  ErrorFeedback plain = group_of("topk ratio=0.01 | two_level | rice", 5000);
  ErrorFeedback named = group_of("feedback decay=1 | topk ratio=0.01 | two_level | rice", 5000);
  for (std::uint64_t step = 0; step < 5; ++step) {
    EXPECT_TRUE(equal(compressed(plain, normal_vector(5000, step)).at(0), compressed(named, normal_vector(5000, step)).at(0)));
  }
  EXPECT_TRUE(named.conserves());
  EXPECT_FALSE(group_of("feedback decay=0.9 | topk", 10).conserves());
  EXPECT_TRUE(group_of("feedback | dense", 10).lossless());
}

TEST(Feedback, DecayByHand) {
  ErrorFeedback group = group_of("feedback decay=0.5 | topk ratio=0.25", 4);
  EXPECT_EQ(sum_of(compressed(group, {4, -3, 2, 1}), 4), (std::vector<float>{4, 0, 0, 0}));
  EXPECT_EQ(sum_of(compressed(group, {0, 0, 0, 1}), 4), (std::vector<float>{0, -1.5, 0, 0}));  // a tie with 1.5: the lower index
  EXPECT_EQ(residual_of(group), (std::vector<float>{0, 0, 1, 1.5}));
}

TEST(None, WhatIsNotSentIsLost) {
  for (const auto& [name, values] : hard_vectors()) {
    SCOPED_TRACE(name);
    for (const char* codecs : {"topk ratio=0.01", "topk ratio=0.01 | two_level | rice", "dense | bf16", "dense"}) {
      ErrorFeedback group = group_of(std::string("none | ") + codecs, values.size());
      auto alone = compressor_of(codecs, values.size());
      for (std::uint64_t step = 0; step < 3; ++step) {
        const auto blocks = group.compress(values, step);
        ASSERT_TRUE(blocks.ok());
        const auto expected = decoded(alone->compress(values, step), values.size());
        ASSERT_EQ(sum_of(*blocks, values.size()), expected);
        ASSERT_TRUE(group.restore(*blocks).ok());
      }
      EXPECT_TRUE(group.residual().empty());
      EXPECT_TRUE(group.flush().empty());
      EXPECT_EQ(group.residual_norm(), 0);
    }
  }
  EXPECT_FALSE(group_of("none | topk", 10).conserves());
}

TEST(None, C9_NonFiniteIsRefusedAndBadBlocksAreToo) {
  ErrorFeedback group = group_of("none | topk ratio=0.5", 4);
  for (const float bad : {std::nanf(""), HUGE_VALF, -HUGE_VALF}) {
    EXPECT_EQ(group.compress(std::vector<float>{1, bad, 2, 3}, 0).error().code, Errc::bad_data);
  }
  auto blocks = compressed(group, {1, 2, 3, 4});
  blocks.front().offset = 1;
  EXPECT_EQ(group.restore(blocks).error().code, Errc::malformed);
}

TEST(Feedback, OptionsAreChecked) {
  EXPECT_NE(refusal_of("feedback decay=1.5 | topk").find("decay"), std::string::npos);
  EXPECT_NE(refusal_of("feedback beta=1 | topk").find("beta"), std::string::npos);
  EXPECT_NE(refusal_of("none decay=1 | topk").find("decay"), std::string::npos);
  EXPECT_NE(refusal_of("none | feedback | topk").find("second memory"), std::string::npos);
}

}  // namespace
}  // namespace hourglass::compress::testing
