// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/error_feedback.h"

#include <gtest/gtest.h>

#include "learning/compress/risk.h"
#include "tests/learning/compress/groups.h"

namespace hourglass::compress::testing {
namespace {

ErrorFeedback feedback_of(const char* spec, std::vector<Segment> segments, std::size_t /*size*/) {
  return group_of(spec, std::move(segments));
}

/// Two workers, four entries, k = 1, by hand. Each residual follows from the worker's own message, never from the aggregate.
TEST(C11_ErrorFeedback, TwoWorkersThreeSteps) {
  ErrorFeedback a = feedback_of("topk ratio=0.25", {{0, 4, false}}, 4);
  ErrorFeedback b = feedback_of("topk ratio=0.25", {{0, 4, false}}, 4);
  struct Step {
    std::vector<float> delta_a, sent_a, residual_a, delta_b, sent_b, residual_b;
  };
  const std::vector<Step> steps = {
      {{4, -3, 2, 1}, {4, 0, 0, 0}, {0, -3, 2, 1}, {-1, 2, -2, 0}, {0, 2, 0, 0}, {-1, 0, -2, 0}},  // b: a tie, the lower index is sent
      {{1, -1, 1, 1}, {0, -4, 0, 0}, {1, 0, 3, 2}, {-1, 1, -1, 1}, {0, 0, -3, 0}, {-2, 1, 0, 1}},
      {{1, 1, -3, 1}, {0, 0, 0, 3}, {2, 1, 0, 0}, {0, -1, 0, 2}, {0, 0, 0, 3}, {-2, 0, 0, 0}},
  };
  for (const Step& step : steps) {
    EXPECT_EQ(sum_of(compressed(a, step.delta_a), 4), step.sent_a);
    EXPECT_EQ(residual_of(a), step.residual_a);
    EXPECT_EQ(sum_of(compressed(b, step.delta_b), 4), step.sent_b);
    EXPECT_EQ(residual_of(b), step.residual_b);
  }
}

TEST(ErrorFeedback, SmallSegmentsGoDenseInBf16WithTheirOwnResidual) {
  const std::size_t size = 5010;
  ErrorFeedback feedback = feedback_of("topk ratio=0.01 | two_level | rice", {{0, 5000, false}, {5000, 10, true}}, size);
  auto delta = normal_vector(size, 1);
  const auto blocks = compressed(feedback, delta);
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_EQ(blocks[0].count, 50U);
  EXPECT_EQ(blocks[1].offset, 5000U);
  EXPECT_EQ(blocks[1].index_codec, IndexCodec::none);
  EXPECT_EQ(blocks[1].value_codec, ValueCodec::bf16);
  const auto sent = sum_of(blocks, size);
  for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(feedback.residual()[i], delta[i] - sent[i]);
  bool any = false;
  for (std::size_t i = 5000; i < size; ++i) any = any || feedback.residual()[i] != 0;
  EXPECT_TRUE(any);
  EXPECT_GT(feedback.residual_norm(), 1.0);

  ErrorFeedback dense = feedback_of("dense", {{0, 5000, false}, {5000, 10, true}}, size);
  EXPECT_EQ(compressed(dense, delta).at(1).value_codec, ValueCodec::f32);
}

TEST(ErrorFeedback, SegmentsWithNothingToSaySendNothing) {
  ErrorFeedback feedback = feedback_of("topk ratio=0.1", {{0, 10, false}, {10, 0, false}, {10, 10, false}, {20, 5, true}}, 25);
  std::vector<float> delta(25, 0.0F);
  delta[12] = 1;
  const auto blocks = compressed(feedback, delta);
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_EQ(blocks[0].offset, 10U);
  EXPECT_EQ(residual_of(feedback), std::vector<float>(25, 0.0F));
  EXPECT_EQ(feedback.residual_norm(), 0);
}

TEST(ErrorFeedback, SumOfAllThatIsSentAndFlushedIsSumOfAllDeltas) {
  const std::size_t size = 3000;
  for (const auto& spec : all_specs()) {
    if (!risk_of(spec).empty()) continue;  // its residual grows until it is refused, and a start-up warning says so
    SCOPED_TRACE(spec);
    ErrorFeedback feedback = feedback_of(spec.c_str(), {{0, 2900, false}, {2900, 100, true}}, size);
    std::vector<double> wanted(size, 0.0);
    std::vector<double> got(size, 0.0);
    const auto take = [&](const std::vector<GradientBlock>& blocks) {
      const auto sum = sum_of(blocks, size);
      for (std::size_t i = 0; i < size; ++i) got[i] += sum[i];
    };
    for (std::uint64_t step = 0; step < 20; ++step) {
      const auto delta = normal_vector(size, step);
      for (std::size_t i = 0; i < size; ++i) wanted[i] += delta[i];
      take(compressed(feedback, delta));
    }
    take(feedback.flush());
    EXPECT_TRUE(feedback.flush().empty());
    for (std::size_t i = 0; i < size; ++i) ASSERT_NEAR(got[i], wanted[i], 1e-4) << i;
    EXPECT_EQ(feedback.residual_norm(), 0);
  }
}

TEST(ErrorFeedback, WhatIsRestoredGoesOutAgain) {
  for (const char* spec : {"dense", "dense | bf16", "topk ratio=0.01", "topk ratio=0.01 | two_level | rice"}) {
    SCOPED_TRACE(spec);
    const std::size_t size = 1000;
    ErrorFeedback feedback = feedback_of(spec, {{0, size, false}}, size);
    const auto delta = normal_vector(size, 5);
    const auto lost = compressed(feedback, delta);
    const auto after = residual_of(feedback);
    ASSERT_TRUE(feedback.restore(lost).ok());
    const auto sent = sum_of(lost, size);
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(feedback.residual()[i], (after.empty() ? 0.0F : after[i]) + sent[i]);
    auto total = sum_of(compressed(feedback, std::vector<float>(size, 0.0F)), size);
    EXPECT_EQ(feedback.residual().empty(), feedback.lossless());
    const auto rest = sum_of(feedback.flush(), size);
    for (std::size_t i = 0; i < size; ++i) ASSERT_NEAR(total[i] + rest[i], delta[i], 1e-5);
  }
}

TEST(ErrorFeedback, LosslessKeepsNoResidual) {
  ErrorFeedback feedback = feedback_of("dense | f32", {{0, 100, false}}, 100);
  EXPECT_TRUE(feedback.lossless());
  const auto delta = normal_vector(100, 5);
  EXPECT_EQ(sum_of(compressed(feedback, delta), 100), delta);
  EXPECT_TRUE(feedback.residual().empty());
  EXPECT_TRUE(feedback.flush().empty());
}

TEST(ErrorFeedback, RestoreIsAllOrNothing) {
  const std::size_t size = 1000;
  ErrorFeedback feedback = feedback_of("topk ratio=0.01", {{0, size, false}}, size);
  auto blocks = compressed(feedback, normal_vector(size, 5));
  const auto before = residual_of(feedback);
  blocks.push_back(blocks.front());
  blocks.back().offset = 1;
  EXPECT_EQ(feedback.restore(blocks).error().code, Errc::malformed);
  EXPECT_EQ(residual_of(feedback), before);
  std::vector<float> huge(size, 0.0F);
  huge[3] = FLT_MAX;
  const auto block = (*try_compressor("dense"))->compress(huge, 0);
  EXPECT_EQ(feedback.restore(std::vector<GradientBlock>{block, block}).error().code, Errc::bad_data);
  EXPECT_EQ(residual_of(feedback), before);
}

TEST(C9_ErrorFeedback, ASumBeyondFloatIsRefusedAndChangesNothing) {
  ErrorFeedback feedback = feedback_of("topk ratio=0.25", {{0, 4, false}}, 4);
  compressed(feedback, {3e38F, 2.9e38F, 0, 0});
  const auto before = residual_of(feedback);
  EXPECT_EQ(before[1], 2.9e38F);
  EXPECT_EQ(feedback.compress(std::vector<float>{0, 2.9e38F, 0, 0}, 0).error().code, Errc::bad_data);
  EXPECT_EQ(residual_of(feedback), before);
}

TEST(ErrorFeedback, RefusesSegmentsThatDoNotCoverTheGroup) {
  const auto code_of = [](std::vector<Segment> segments, std::size_t size) {
    const auto made = ErrorFeedback::make("topk", std::move(segments), size);
    return made.ok() ? std::optional<Errc>() : made.error().code;
  };
  EXPECT_EQ(code_of({{0, 10, false}}, 10), std::nullopt);
  EXPECT_EQ(code_of({}, 0), std::nullopt);
  EXPECT_EQ(code_of({{0, 9, false}}, 10), Errc::bad_config);
  EXPECT_EQ(code_of({{1, 9, false}}, 10), Errc::bad_config);
  EXPECT_EQ(code_of({{0, 6, false}, {5, 5, false}}, 10), Errc::bad_config);
  EXPECT_EQ(code_of({{0, 11, false}}, 10), Errc::bad_config);
  EXPECT_EQ(code_of({{0, SIZE_MAX, false}}, 10), Errc::bad_config);
  EXPECT_FALSE(ErrorFeedback::make("no", {{0, 10, false}}, 10).ok());
}

/// C12 without momentum: at ratio 100 % nothing is held back, so the parameters are those of plain training, bit for bit.
TEST(C12_ErrorFeedback, RatioOneIsPlainTraining) {
  const std::size_t size = 2000;
  ErrorFeedback feedback = feedback_of("topk ratio=1", {{0, size, false}}, size);
  std::vector<float> plain(size, 0.0F);
  std::vector<float> through(size, 0.0F);
  for (std::uint64_t step = 0; step < 50; ++step) {
    const auto delta = normal_vector(size, step);
    for (std::size_t i = 0; i < size; ++i) plain[i] += delta[i];
    for (const auto& block : compressed(feedback, delta)) ASSERT_TRUE(accumulate(block, through).ok());
  }
  EXPECT_EQ(plain, through);
}

/// C13's stages as changes of the spec: nothing is lost, whatever is between.
TEST(C13_ErrorFeedback, ChangesOfTheSpecKeepTheResidual) {
  const std::size_t size = 8000;
  ErrorFeedback feedback = feedback_of("topk ratio=0.25", {{0, 7000, false}, {7000, 1000, false}}, size);
  std::vector<float> sum(size, 0.0F);
  std::vector<float> wanted(size, 0.0F);
  std::uint64_t step = 0;
  for (const char* spec : {"topk ratio=0.25", "topk ratio=0.0625", "low_pass beta=1 | topk ratio=0.015625", "ef21 | topk ratio=0.004",
                           "dgc_momentum momentum=0 | topk ratio=0.001 | f32 | rice", "dense", "warmup from=0.01 | topk ratio=0.001",
                           "feedback | budget | topk ratio=0.01", "ef21 | topk ratio=0.001"}) {
    SCOPED_TRACE(spec);
    const auto before = residual_of(feedback);
    ASSERT_TRUE(feedback.change(spec).ok());
    if (!before.empty() && feedback.residual_norm() > 0) {
      EXPECT_EQ(residual_of(feedback), before);
    }
    for (int round = 0; round < 5; ++round, ++step) {
      const auto delta = whole_vector(size, step);
      for (std::size_t i = 0; i < size; ++i) wanted[i] += delta[i];
      const auto blocks = compressed(feedback, delta, step);
      if (round == 3) {
        ASSERT_TRUE(feedback.restore(blocks).ok());
      } else {
        add(blocks, sum);
      }
      auto total = sum;
      for (std::size_t i = 0; i < feedback.residual().size(); ++i) total[i] += feedback.residual()[i];
      ASSERT_EQ(total, wanted);
    }
  }
  add(feedback.flush(), sum);
  EXPECT_EQ(sum, wanted);
}

TEST(ErrorFeedback, AChangeKeepsTheMemoryWhereItsStageIsTheSame) {
  ErrorFeedback feedback = feedback_of("dgc_momentum momentum=0.5 masking=0 | topk ratio=0.25", {{0, 4, false}}, 4);
  compressed(feedback, {8, 4, 2, 1});
  ASSERT_TRUE(feedback.change("dgc_momentum momentum=0.5 masking=0 | topk ratio=1").ok());
  EXPECT_EQ(sum_of(compressed(feedback, {0, 0, 0, 0}), 4), (std::vector<float>{4, 6, 3, 1.5}));
  ASSERT_TRUE(feedback.change("topk ratio=0.25").ok());  // the momentum ends
  EXPECT_EQ(sum_of(compressed(feedback, {0, 0, 0, 0}), 4), (std::vector<float>{0, 0, 0, 0}));
}

TEST(ErrorFeedback, AChangeThatWouldLoseWhatIsHeldIsRefusedAndChangesNothing) {
  ErrorFeedback feedback = feedback_of("topk ratio=0.25", {{0, 4, false}}, 4);
  compressed(feedback, {4, 3, 2, 1});
  EXPECT_EQ(feedback.change("none | topk ratio=0.5").error().code, Errc::bad_config);
  EXPECT_EQ(feedback.change("ef21 of=update | topk ratio=0.5").error().code, Errc::bad_config);
  EXPECT_EQ(feedback.change("tokp").error().code, Errc::bad_config);
  EXPECT_EQ(residual_of(feedback), (std::vector<float>{0, 3, 2, 1}));
  EXPECT_EQ(sum_of(compressed(feedback, {0, 0, 0, 0}), 4), (std::vector<float>{0, 3, 0, 0}));
  (void)feedback.flush();
  EXPECT_TRUE(feedback.change("none | topk ratio=0.5").ok());
  EXPECT_TRUE(feedback.change("ef21 of=update | topk ratio=0.5").ok());
  EXPECT_EQ(feedback.change("topk ratio=0.5").error().code, Errc::bad_config);
  EXPECT_TRUE(feedback.change("ef21 of=update | topk ratio=0.25").ok());
}

}  // namespace
}  // namespace hourglass::compress::testing
