// SPDX-License-Identifier: Apache-2.0
// The two ends of one parameter group together: pushes, the shared downlink stream, read-my-writes, mass balance.
#include "learning/params/replica.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "base/random.h"
#include "learning/params/parameter_store.h"

namespace hourglass::params {
namespace {

constexpr std::size_t kSize = 3000;

std::vector<float> random_vector(std::uint64_t seed, double scale = 1.0) {
  Random random(seed);
  std::vector<float> out(kSize);
  for (float& value : out) value = static_cast<float>(scale * random.normal());
  return out;
}

compress::ErrorFeedback memory(std::string_view spec) {
  auto made = compress::ErrorFeedback::make(spec, {{0, 2500, false}, {2500, 500, true}}, kSize);
  HG_CHECK(made.ok(), made.ok() ? "" : made.error().text);
  return std::move(*made);
}

ParameterUpdate update_from(const ParameterStore& store, std::uint64_t from, std::uint64_t applied) {
  ParameterUpdate update;
  update.from = from;
  update.applied_clock = applied;
  auto deltas = store.deltas_since(from);
  if (!store.lossless() && deltas.ok()) {
    update.deltas = std::move(*deltas);
  } else {
    update.absolute = true;
    update.deltas = {store.absolute()};
  }
  return update;
}

class ReplicaWithSpec : public testing::TestWithParam<const char*> {};

TEST_P(ReplicaWithSpec, FollowsThePublishedStreamBitForBit) {
  const auto initial = random_vector(1);
  ParameterStore store(initial, memory(GetParam()));
  Replica one(initial, memory(GetParam())), two(initial, memory(GetParam()));
  std::uint64_t clock_one = 0, clock_two = 0;
  for (std::uint64_t round = 0; round < 20; ++round) {
    one.step(random_vector(100 + round, 0.01));
    auto blocks = one.push(clock_one, false, true);
    ASSERT_TRUE(blocks.ok());
    store.apply(*blocks, 0.5F);
    one.settle(clock_one++, Verdict::applied);
    if (round % 3 == 0) {
      two.step(random_vector(200 + round, 0.01));
      auto more = two.push(clock_two, false, true);
      ASSERT_TRUE(more.ok());
      store.apply(*more, 0.5F);
      two.settle(clock_two++, Verdict::applied);
    }
    store.publish();
    ASSERT_TRUE(one.absorb(update_from(store, one.version(), clock_one)).ok());
    if (round % 4 == 3) {
      ASSERT_TRUE(two.absorb(update_from(store, two.version(), clock_two)).ok());
      EXPECT_EQ(std::vector(one.published().begin(), one.published().end()), std::vector(two.published().begin(), two.published().end()));
      EXPECT_EQ(*one.working(), std::vector(one.published().begin(), one.published().end())) << "nothing of its own is left out";
      EXPECT_EQ(one.version(), store.published_version());
    }
  }
  store.publish_exact();
  ParameterUpdate final_values;
  final_values.absolute = true;
  final_values.applied_clock = clock_one;
  final_values.deltas = {store.absolute()};
  ASSERT_TRUE(one.absorb(final_values).ok());
  EXPECT_EQ(*one.working(), std::vector(store.exact().begin(), store.exact().end()));
}

/// initial + sum of what was applied + residuals of both directions = initial + sum of all steps (weight 1, one worker).
TEST_P(ReplicaWithSpec, MassIsConservedThroughRejectsAndFlush) {
  const std::vector<float> zero(kSize, 0.0F);
  ParameterStore store(zero, memory("dense"));
  Replica replica(zero, memory(GetParam()));
  std::vector<double> total(kSize, 0.0);
  for (std::uint64_t clock = 0; clock < 12; ++clock) {
    const auto step = random_vector(300 + clock, 0.1);
    for (std::size_t i = 0; i < kSize; ++i) total[i] += step[i];
    replica.step(step);
    auto blocks = replica.push(clock, false, true);
    ASSERT_TRUE(blocks.ok());
    const bool rejected = clock % 4 == 1;
    if (!rejected) store.apply(*blocks, 1.0F);
    replica.settle(clock, rejected ? Verdict::stale : Verdict::applied);
  }
  auto rest = replica.push(12, true, true);
  ASSERT_TRUE(rest.ok());
  store.apply(*rest, 1.0F);
  EXPECT_EQ(replica.residual_norm(), 0.0);
  for (std::size_t i = 0; i < kSize; ++i) ASSERT_NEAR(store.exact()[i], total[i], 2e-5) << i;
}

INSTANTIATE_TEST_SUITE_P(Specs, ReplicaWithSpec,
                         testing::Values("dense", "topk ratio=0.01", "topk ratio=0.05 | two_level | rice", "dense | bf16"));

TEST(Replica, WorkingHoldsOwnPushesUntilAnUpdateContainsThem) {
  const std::vector<float> zero(kSize, 0.0F);
  Replica replica(zero, memory("dense"));
  const std::vector<float> ones(kSize, 1.0F);
  replica.step(ones);
  ASSERT_TRUE(replica.push(0, false, true).ok());
  EXPECT_EQ(*replica.working(), ones);
  ParameterStore store(zero, memory("dense"));
  ParameterUpdate other;  // somebody else's push was applied, ours was not
  other.absolute = true;
  other.applied_clock = 0;
  store.replace(std::vector<float>(kSize, 10.0F), 1);
  other.deltas = {store.absolute()};
  ASSERT_TRUE(replica.absorb(other).ok());
  EXPECT_EQ((*replica.working())[7], 11.0F);
  replica.settle(0, Verdict::applied);
  store.replace(std::vector<float>(kSize, 10.5F), 2);
  other.deltas = {store.absolute()};
  other.applied_clock = 1;
  ASSERT_TRUE(replica.absorb(other).ok());
  EXPECT_EQ((*replica.working())[7], 10.5F);
}

TEST(Replica, ABatchUnderWayKeepsItsParameters) {
  Replica replica(std::vector<float>(kSize, 0.0F), memory("dense"));
  const auto held = replica.working();
  replica.step(std::vector<float>(kSize, 1.0F));
  EXPECT_EQ((*held)[0], 0.0F);
  EXPECT_EQ((*replica.working())[0], 1.0F);
}

TEST(Replica, GapIsReportedAndChangesNothing) {
  const auto initial = random_vector(5);
  ParameterStore store(initial, memory("topk ratio=0.01"));
  Replica worker(initial, memory("topk ratio=0.01")), other(initial, memory("topk ratio=0.01"));
  for (std::uint64_t clock = 0; clock < 2; ++clock) {
    worker.step(random_vector(50 + clock));
    store.apply(*worker.push(clock, false, true), 1.0F);
    store.publish();
  }
  auto update = update_from(store, 1, 0);  // leads from version 1, the other is at 0
  ASSERT_FALSE(update.absolute);
  const Status status = other.absorb(update);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Errc::too_stale);
  EXPECT_EQ(*other.working(), initial);
}

TEST(Replica, NonFiniteStepsAreDroppedAndLeaveNoTrace) {  // C9
  const auto initial = random_vector(6);
  Replica replica(initial, memory("topk ratio=0.01"));
  std::vector<float> step(kSize, 0.1F);
  step[17] = std::numeric_limits<float>::quiet_NaN();
  replica.step(step);
  EXPECT_FALSE(replica.push(0, false, true).ok());
  EXPECT_EQ(*replica.working(), initial);
  EXPECT_EQ(replica.residual_norm(), 0.0);
  replica.step(std::vector<float>(kSize, 0.1F));
  EXPECT_TRUE(replica.push(0, false, true).ok());
}

TEST(ParameterStore, RingIsBoundedAndPrefersValuesWhereTheyAreSmaller) {
  const std::vector<float> zero(kSize, 0.0F);
  ParameterStore store(zero, memory("topk ratio=0.5"));
  Replica worker(zero, memory("dense"));
  for (std::uint64_t clock = 0; clock < 8; ++clock) {
    worker.step(random_vector(clock));
    store.apply(*worker.push(clock, false, true), 1.0F);
    store.publish();
  }
  EXPECT_TRUE(store.deltas_since(store.published_version()).ok());
  EXPECT_TRUE(store.deltas_since(7).ok());
  EXPECT_FALSE(store.deltas_since(0).ok()) << "eight deltas of half the entries cost more than all the values";
}

}  // namespace
}  // namespace hourglass::params
