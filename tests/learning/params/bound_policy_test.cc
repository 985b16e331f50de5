// SPDX-License-Identifier: Apache-2.0
#include "learning/params/bound_policy.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace hourglass::params {
namespace {
using namespace std::chrono_literals;

constexpr ActorId kFast{Role::conv_worker, 1};
constexpr ActorId kSlow{Role::conv_worker, 2};

std::unique_ptr<BoundPolicy> made(std::string_view spec) {
  auto policy = make_bound_policy(spec);
  EXPECT_TRUE(policy.ok()) << (policy.ok() ? "" : policy.error().text);
  return std::move(policy).value();
}

/// The first of the r for which the least wait over all j is least, written as the definition has it.
std::uint64_t brute_force(double fast, double fast_interval, double slow, double slow_interval, std::uint64_t range) {
  std::vector<double> waits;
  for (std::uint64_t r = 0; r <= range; ++r) {
    std::vector<double> each;
    for (std::uint64_t j = 0; j <= range; ++j) {
      each.push_back(std::abs(slow + static_cast<double>(j + 1) * slow_interval - (fast + static_cast<double>(r) * fast_interval)));
    }
    waits.push_back(*std::min_element(each.begin(), each.end()));
  }
  return static_cast<std::uint64_t>(std::min_element(waits.begin(), waits.end()) - waits.begin());
}

TEST(BoundPolicy, TheExtraIsTheArgminOfTheWait) {
  Random random(5);
  for (int trial = 0; trial < 2000; ++trial) {
    const auto draw = [&] { return static_cast<std::int64_t>(1 + random.below(50)); };
    const std::int64_t fast = draw(), fast_interval = draw(), slow = draw(), slow_interval = draw();
    const std::uint64_t range = random.below(9);
    const auto at = [](std::int64_t ms) { return Instant{} + std::chrono::milliseconds(ms); };
    EXPECT_EQ(best_extra(at(fast), fast_interval * 1ms, at(slow), slow_interval * 1ms, range),
              brute_force(static_cast<double>(fast), static_cast<double>(fast_interval), static_cast<double>(slow),
                          static_cast<double>(slow_interval), range))
        << fast << ' ' << fast_interval << ' ' << slow << ' ' << slow_interval << ' ' << range;
  }
}

TEST(BoundPolicy, GrantsWhatTheLastTwoPushesForetell) {
  const auto policy = made("dynamic range=6");
  EXPECT_EQ(policy->range(), 6U);
  policy->pushed(kFast, Instant{} + 0ms);
  policy->pushed(kSlow, Instant{} + 0ms);
  EXPECT_EQ(policy->grant(kFast, kSlow), 0U);  // no interval yet
  policy->pushed(kFast, Instant{} + 10ms);
  policy->pushed(kSlow, Instant{} + 40ms);
  policy->pushed(kFast, Instant{} + 20ms);
  policy->pushed(kFast, Instant{} + 50ms);
  policy->pushed(kFast, Instant{} + 60ms);  // 10 ms a unit, the other one 40 ms, next at 80 ms
  EXPECT_EQ(policy->grant(kFast, kSlow), 2U);
  policy->left(kSlow);
  EXPECT_EQ(policy->grant(kFast, kSlow), 0U);
}

TEST(BoundPolicy, FixedAndARangeOfZeroGrantNothing) {
  for (const char* spec : {"fixed", "dynamic range=0"}) {
    const auto policy = made(spec);
    EXPECT_EQ(policy->range(), 0U);
    for (int i = 0; i < 3; ++i) {
      policy->pushed(kFast, Instant{} + i * 1ms);
      policy->pushed(kSlow, Instant{} + i * 100ms);
    }
    EXPECT_EQ(policy->grant(kFast, kSlow), 0U) << spec;
  }
}

TEST(BoundPolicy, RefusesWhereThereIsNothingToGrant) {
  Job job;
  job.bound_policy = "dynamic";
  EXPECT_TRUE(check_bound_policy(job).ok());
  job.staleness = kUnlimited;
  EXPECT_NE(check_bound_policy(job).error().text.find("set train.staleness"), std::string::npos);
  job.staleness = 0;
  EXPECT_NE(check_bound_policy(job).error().text.find("cluster.fc_workers = 0"), std::string::npos);
  job.fc_workers = 0;
  EXPECT_TRUE(check_bound_policy(job).ok());
  job.tree_arity = 2;
  EXPECT_NE(check_bound_policy(job).error().text.find("cluster.tree_arity = 0"), std::string::npos);
  EXPECT_NE(make_bound_policy("dynamic rnge=3").error().text.find("range"), std::string::npos);
}

}  // namespace
}  // namespace hourglass::params
