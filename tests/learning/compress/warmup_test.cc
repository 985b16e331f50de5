// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/warmup.h"

#include <gtest/gtest.h>

#include "tests/learning/compress/groups.h"

namespace hourglass::compress::testing {
namespace {

TEST(C13_Warmup, FourStagesOfDgc) {
  auto made = make_warmup(parse_spec("warmup from=0.25 steps=400")->front(), 0.001, {});
  ASSERT_TRUE(made.ok());
  const double wanted[] = {0.25, 0.0625, 0.015625, 0.004, 0.001};
  double ratio[1] = {};
  for (std::uint64_t stage = 0; stage < 5; ++stage) {
    (*made)->choose({}, stage * 100, ratio);
    EXPECT_NEAR(ratio[0], wanted[stage], 0.015 * wanted[stage]);
  }
  double last = 1;
  for (std::uint64_t step = 0; step < 500; ++step) {
    (*made)->choose({}, step, ratio);
    ASSERT_LE(ratio[0], last);
    last = ratio[0];
  }
  EXPECT_EQ(last, 0.001);
  (*made)->choose({}, UINT64_MAX, ratio);
  EXPECT_EQ(ratio[0], 0.001);
  EXPECT_FALSE((*made)->looks());
}

TEST(C13_Warmup, SetsTheNumberOfEntriesAndKeepsTheMass) {
  const std::size_t size = 10000;
  ErrorFeedback group = group_of("warmup from=0.25 steps=4 | topk ratio=0.001 | f32", {{0, 9000, false}, {9000, 1000, true}});
  std::vector<float> sum(size, 0.0F);
  std::vector<float> wanted(size, 0.0F);
  std::vector<std::uint64_t> counts;
  for (std::uint64_t step = 0; step < 8; ++step) {
    auto delta = whole_vector(size, step);
    for (std::size_t i = 9000; i < size; ++i) delta[i] = 0;  // bf16 would round
    for (std::size_t i = 0; i < size; ++i) wanted[i] += delta[i];
    const auto blocks = compressed(group, delta, step);
    counts.push_back(blocks.at(0).count);
    add(blocks, sum);
    auto total = sum;
    for (std::size_t i = 0; i < size; ++i) total[i] += group.residual()[i];
    ASSERT_EQ(total, wanted);
  }
  EXPECT_EQ(counts, (std::vector<std::uint64_t>{2250, 566, 143, 36, 9, 9, 9, 9}));
}

TEST(Warmup, OptionsAreChecked) {
  EXPECT_EQ(refusal_of("warmup | topk ratio=0.5"), "accepted");
  EXPECT_NE(refusal_of("warmup from=0.25 | topk ratio=0.5").find("from"), std::string::npos);
  EXPECT_NE(refusal_of("warmup steps=0 | topk").find("steps"), std::string::npos);
  EXPECT_NE(refusal_of("warmup to=0.1 | topk").find("to"), std::string::npos);
  EXPECT_NE(refusal_of("warmup | dense").find("no ratio"), std::string::npos);
  EXPECT_NE(refusal_of("warmup | topk ratio=7").find("ratio"), std::string::npos);
}

}  // namespace
}  // namespace hourglass::compress::testing
