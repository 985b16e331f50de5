// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/budget_ratio.h"

#include <gtest/gtest.h>

#include "tests/learning/compress/groups.h"

namespace hourglass::compress::testing {
namespace {

std::vector<std::uint64_t> counts_of(const std::vector<GradientBlock>& blocks) {
  std::vector<std::uint64_t> counts;
  for (const auto& block : blocks) counts.push_back(block.count);
  return counts;
}

/// Four layers; magnitudes 1, 2, 4 and nothing.
std::vector<float> layered() {
  std::vector<float> out(7000, 0.0F);
  for (std::size_t i = 0; i < 3000; ++i) out[i] = i % 2 == 0 ? 1.0F : -1.0F;
  for (std::size_t i = 3000; i < 5000; ++i) out[i] = 2;
  for (std::size_t i = 5000; i < 6000; ++i) out[i] = -4;
  return out;
}
const std::vector<Segment> kLayers = {{0, 3000, false}, {3000, 2000, false}, {5000, 1000, false}, {6000, 1000, false}};

TEST(BudgetRatio, EntriesFollowEnergyOrNorm) {
  ErrorFeedback by_energy = group_of("budget | topk ratio=0.03857142857", kLayers);  // 270 of 7000; energies 3000, 8000, 16000
  EXPECT_EQ(counts_of(compressed(by_energy, layered())), (std::vector<std::uint64_t>{30, 80, 160}));
  ErrorFeedback by_norm = group_of("budget by=norm | topk ratio=0.1", kLayers);  // of 700; norms 54.8, 89.4, 126.5
  const auto counts = counts_of(compressed(by_norm, layered()));
  EXPECT_EQ(counts, (std::vector<std::uint64_t>{142, 232, 328}));
}

TEST(BudgetRatio, AFullLayerLeavesTheRestToOthers) {
  auto values = layered();
  for (std::size_t i = 5000; i < 6000; ++i) values[i] *= 1000;
  ErrorFeedback group = group_of("budget | topk ratio=0.2", kLayers);  // of 1400, the third takes its 1000
  EXPECT_EQ(counts_of(compressed(group, values)), (std::vector<std::uint64_t>{110, 291, 1000}));
}

TEST(BudgetRatio, TotalStaysWithinTheNumberOfLayersOverARun) {
  for (const char* policy : {"budget", "budget by=norm", "budget every=1", "dynamic", "dynamic width=1 every=2", "entropy form=budget"}) {
    SCOPED_TRACE(policy);
    ErrorFeedback group = group_of(std::string(policy) + " | topk ratio=0.01 | two_level | rice", kLayers);
    for (std::uint64_t step = 0; step < 30; ++step) {
      auto delta = normal_vector(7000, step);
      for (std::size_t i = 3000; i < 5000; ++i) delta[i] *= static_cast<float>(step + 1);
      double sent = 0;
      for (const auto& block : compressed(group, delta, step)) sent += static_cast<double>(block.count);
      ASSERT_NEAR(sent, 70, 4) << step;
    }
  }
}

TEST(BudgetRatio, SmallRangesArePlainAndTakeNothing) {
  ErrorFeedback group = group_of("budget | topk ratio=0.01", {{0, 3000, false}, {3000, 100, true}});
  const auto blocks = compressed(group, normal_vector(3100, 1));
  EXPECT_EQ(counts_of(blocks), (std::vector<std::uint64_t>{30, 100}));
}

TEST(BudgetRatio, C9_ARefusedUpdateIsNotLookedAt) {
  ErrorFeedback group = group_of("budget every=1 | topk ratio=0.01", kLayers);
  ErrorFeedback twin = group_of("budget every=1 | topk ratio=0.01", kLayers);
  for (std::uint64_t step = 0; step < 5; ++step) {
    auto poisoned = normal_vector(7000, step);
    poisoned[3100] = HUGE_VALF;
    EXPECT_FALSE(group.compress(poisoned, step).ok());
    const auto a = compressed(group, normal_vector(7000, step), step);
    const auto b = compressed(twin, normal_vector(7000, step), step);
    ASSERT_EQ(counts_of(a), counts_of(b));
    ASSERT_EQ(residual_of(group), residual_of(twin));
  }
}

TEST(BudgetRatio, OptionsAreChecked) {
  EXPECT_NE(refusal_of("budget by=size | topk").find("energy, norm"), std::string::npos);
  EXPECT_NE(refusal_of("budget average=0 | topk").find("average"), std::string::npos);
  EXPECT_NE(refusal_of("budget steps=4 | topk").find("steps"), std::string::npos);
  EXPECT_NE(refusal_of("topk | budget").find("order"), std::string::npos);
}

}  // namespace
}  // namespace hourglass::compress::testing
