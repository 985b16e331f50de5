// SPDX-License-Identifier: Apache-2.0
#include "learning/params/apply_policy.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "learning/params/published.h"

namespace hourglass::params {
namespace {

ApplyPolicy made(std::string spec, std::size_t size, std::uint32_t workers = 4) {
  Job job;
  job.apply_policy = std::move(spec);
  job.conv_workers = workers;
  auto policy = make_apply_policy(job, size);
  EXPECT_TRUE(policy.ok()) << (policy.ok() ? "" : policy.error().text);
  return std::move(policy).value();
}

std::vector<GradientBlock> blocks(std::vector<float> values) { return whole(1, values).blocks; }

TEST(ApplyPolicy, EachAddsAtOnce) {
  const ApplyPolicy policy = made("each", 1);
  EXPECT_EQ(policy.buffer, 0U);
  EXPECT_EQ(policy.rule, nullptr);
}

TEST(ApplyPolicy, ABufferIsAsLargeAsThereAreWorkers) {
  EXPECT_EQ(made("buffer", 1, 7).buffer, 7U);
  EXPECT_EQ(made("buffer size=3", 1, 7).buffer, 3U);
}

/// Sums of floats depend on their order; a buffer's do not depend on who came first.
TEST(ApplyPolicy, ABuffersSumDoesNotDependOnTheOrderOfArrival) {
  constexpr std::size_t kSize = 64;
  Random random(2);
  std::vector<std::pair<double, std::vector<float>>> pushes;
  for (int i = 0; i < 8; ++i) {
    std::vector<float> values(kSize);
    for (float& value : values) value = static_cast<float>(random.normal() * (i % 2 == 0 ? 1e6 : 1));
    pushes.emplace_back(0.1 * i, std::move(values));
  }
  std::vector<float> expected;
  std::vector<float> in_order(kSize, 0.0F);
  bool order_matters = false;
  for (int trial = 0; trial < 5; ++trial) {
    const ApplyPolicy policy = made("buffer", kSize, 8);
    std::vector<float> arrival(kSize, 0.0F);
    for (const auto& [progress, values] : pushes) {
      policy.rule->take(blocks(values), 0.125F, progress);
      for (std::size_t i = 0; i < kSize; ++i) arrival[i] += 0.125F * values[i];
    }
    std::vector<float> delta(kSize);
    ASSERT_TRUE(policy.rule->step({}, delta));
    if (trial == 0) expected = delta;
    if (trial == 0) in_order = arrival;
    EXPECT_EQ(delta, expected);
    order_matters = order_matters || arrival != in_order;
    EXPECT_FALSE(policy.rule->step({}, delta));  // nothing is left
    random.shuffle(pushes);
  }
  EXPECT_TRUE(order_matters);  // else the test could not fail
}

/// v = m v + d, and rate (d + m v) is added.
TEST(ApplyPolicy, OuterStepsOnTheSum) {
  const ApplyPolicy policy = made("outer size=2 rate=0.5 momentum=0.5", 1);
  EXPECT_EQ(policy.buffer, 2U);
  std::vector<float> delta(1);
  std::vector<float> moved;
  for (int round = 0; round < 3; ++round) {
    policy.rule->take(blocks({1}), 0.5F, 0);
    policy.rule->take(blocks({3}), 0.5F, 0.1);
    ASSERT_TRUE(policy.rule->step({}, delta));
    moved.push_back(delta[0]);
  }
  // d = 2; v: 2, 3, 3.5
  EXPECT_EQ(moved, (std::vector<float>{1.5F, 1.75F, 1.875F}));
  policy.rule->take({}, 0.5F, 0.2);  // the end of a run moves nothing
  EXPECT_FALSE(policy.rule->step({}, delta));
}

/// v = m v + sum after each B pushes, applied once; the pushes themselves at once.
TEST(ApplyPolicy, DelayedNesterovAppliesMomentumOnceARound) {
  const ApplyPolicy policy = made("delayed_nesterov size=2 momentum=0.5", 1);
  EXPECT_EQ(policy.buffer, 0U);
  std::vector<float> delta(1);
  std::vector<float> moved;
  for (int push = 0; push < 6; ++push) {
    policy.rule->take(blocks({1}), 0.5F, 0);
    ASSERT_TRUE(policy.rule->step({}, delta));
    moved.push_back(delta[0]);
  }
  // v: 1, 1.5, 1.75; half of it comes on top of each second push.
  EXPECT_EQ(moved, (std::vector<float>{0.5F, 1.0F, 0.5F, 1.25F, 0.5F, 1.375F}));
  policy.rule->take({}, 0.5F, 0.2);
  EXPECT_FALSE(policy.rule->step({}, delta));
}

TEST(ApplyPolicy, WithAServerRuleABufferOnlySaysWhen) {
  Job job;
  job.apply_policy = "buffer size=5";
  job.server = "amsgrad";
  job.optimizer = "sgd";
  const auto policy = make_apply_policy(job, 1);
  ASSERT_TRUE(policy.ok());
  EXPECT_EQ(policy->buffer, 5U);
  EXPECT_EQ(policy->rule, nullptr);
  EXPECT_TRUE(check_apply_policy(job).ok());
}

TEST(ApplyPolicy, RefusesTwoSettingsForOneThing) {
  Job job;
  job.apply_policy = "buffer";
  job.publish_every = 4;
  EXPECT_NE(check_apply_policy(job).error().text.find("bytes.publish_every"), std::string::npos);
  job.apply_policy = "delayed_nesterov";
  EXPECT_TRUE(check_apply_policy(job).ok());
  job.server = "amsgrad";
  EXPECT_NE(check_apply_policy(job).error().text.find("one of them"), std::string::npos);
  job.apply_policy = "bufer";
  EXPECT_NE(check_apply_policy(job).error().text.find("did you mean 'buffer'"), std::string::npos);
}

}  // namespace
}  // namespace hourglass::params
