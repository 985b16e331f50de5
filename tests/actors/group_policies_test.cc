// SPDX-License-Identifier: Apache-2.0
#include "actors/group_policies.h"

#include <gtest/gtest.h>

namespace hourglass {
namespace {
using namespace std::chrono_literals;

constexpr ActorId kFast{Role::conv_worker, 1};
constexpr ActorId kSlow{Role::conv_worker, 2};

GroupPolicies made(const Job& job, Group group = Group::conv) {
  auto parts = make_group_parts(job, group, false, 2);
  EXPECT_TRUE(parts.ok()) << (parts.ok() ? "" : parts.error().text);
  return std::move(parts->policies);
}

struct Scene {
  GroupPolicies policies;
  params::ClockTable clocks;
  std::vector<float> values = {1, 2};

  Scene(const Job& job, std::uint64_t slack) : policies(made(job)), clocks(params::StalenessBound{slack}) {
    clocks.join(kFast);
    clocks.join(kSlow);
  }
  void push(Instant at, ActorId from, std::uint64_t base = 0) {
    clocks.advance(from);
    GradientPush push;
    push.samples = 32;
    push.base_version = base;
    policies.pushed(at, from, push, clocks);
  }
  void answer(Instant at, ActorId to, std::uint64_t version = 0) { policies.answered(at, to, version, values); }
  std::uint32_t steps(ActorId of) {
    ParameterUpdate update;
    policies.fill(update, of);
    return update.local_steps;
  }
};

/// What a worker waits for the bound is no work of its.
TEST(GroupPolicies, SpeedLeavesOutTheTimeOfWaiting) {
  Job job;
  job.local_policy = "speed";
  Scene scene(job, 0);
  Instant now{};
  for (int round = 0; round < 3; ++round) {
    scene.answer(now, kFast);
    scene.answer(now, kSlow);
    scene.push(now + 10ms, kFast);  // and waits for 90 ms
    scene.push(now + 100ms, kSlow);
    now += 100ms;
  }
  EXPECT_EQ(scene.steps(kFast), 10U);
  EXPECT_EQ(scene.steps(kSlow), 1U);
}

TEST(GroupPolicies, SpeedLeavesOutPausesWithoutData) {
  Job job;
  job.local_policy = "speed";
  Scene scene(job, 4);
  scene.answer(Instant{}, kFast);
  scene.answer(Instant{}, kSlow);
  scene.push(Instant{} + 10ms, kSlow);
  scene.answer(Instant{} + 10ms, kSlow);
  scene.policies.woke(kFast);
  scene.answer(Instant{} + 5s, kFast);
  scene.push(Instant{} + 5s + 10ms, kFast);
  EXPECT_EQ(scene.steps(kFast), 1U);
  EXPECT_EQ(scene.steps(kSlow), 1U);
}

TEST(GroupPolicies, TheFastestMayGetMoreThanTheBound) {
  Job job;
  job.bound_policy = "dynamic range=3";
  Scene scene(job, 1);
  EXPECT_EQ(scene.policies.range(), 3U);
  Instant now{};
  scene.push(now, kFast);
  scene.push(now, kSlow);
  scene.push(now += 10ms, kFast);
  scene.push(now += 20ms, kSlow);  // next at 60 ms
  scene.push(now += 1ms, kFast);
  scene.push(now += 10ms, kFast);  // at 41 ms, every 10 ms, and two ahead of the slowest: two more end at 61 ms
  EXPECT_TRUE(scene.clocks.admits_next(kFast));
  EXPECT_EQ(*scene.clocks.admitted(kFast), 5U);
  scene.push(now += 10ms, kFast);
  EXPECT_TRUE(scene.clocks.admits_next(kFast));
  for (int i = 0; i < 10; ++i) {
    if (scene.clocks.admits_next(kFast)) scene.push(now += 10ms, kFast);
    EXPECT_LE(scene.clocks.pace(kFast), scene.clocks.slowest() + 1 + 3 + 1);  // units start up to s + range ahead
  }
  EXPECT_FALSE(scene.clocks.admits_next(kFast));
}

TEST(GroupPolicies, KeepsWhatWasReadUntilItIsPushed) {
  Job job;
  job.stale_policy = "dc_asgd";
  job.server = job.optimizer = "sgd";
  Scene scene(job, 4);
  ASSERT_NE(scene.policies.compensation(), nullptr);
  scene.answer(Instant{}, kFast, 3);
  scene.answer(Instant{}, kSlow, 3);
  EXPECT_EQ(scene.policies.read_by(kFast, 3), scene.policies.read_by(kSlow, 3));  // one copy
  scene.values = {5, 6};
  scene.answer(Instant{}, kFast, 4);
  scene.answer(Instant{}, kFast, 9);
  ASSERT_NE(scene.policies.read_by(kFast, 4), nullptr);
  EXPECT_EQ(*scene.policies.read_by(kFast, 4), scene.values);
  EXPECT_EQ(*scene.policies.read_by(kSlow, 3), (std::vector<float>{1, 2}));
  scene.push(Instant{}, kFast, 4);
  EXPECT_EQ(scene.policies.read_by(kFast, 3), nullptr);
  EXPECT_NE(scene.policies.read_by(kFast, 4), nullptr);  // another batch with it may be under way
  EXPECT_NE(scene.policies.read_by(kFast, 9), nullptr);
  scene.policies.left(kFast);
  EXPECT_EQ(scene.policies.read_by(kFast, 9), nullptr);
}

TEST(GroupPolicies, AnAgeIsCountedInRounds) {
  Job job;
  job.stale_policy = "polynomial power=1";
  const GroupPolicies policies = made(job);
  EXPECT_EQ(policies.weight(3, 4), 1);  // within one round
  EXPECT_EQ(policies.weight(4, 4), 0.5);
  EXPECT_EQ(policies.weight(11, 4), 1.0 / 3);
  EXPECT_EQ(GroupPolicies().weight(1000, 1), 1);
}

params::ParameterStore store_of(const Job& job, std::vector<float> initial) {
  const std::size_t size = initial.size();
  auto downlink = compress::ErrorFeedback::make("dense", {{0, size, true, 0}}, size).value();
  return params::ParameterStore(std::move(initial), std::move(downlink), params::make_server_rule(job, size).value());
}

GradientPush push_of(std::vector<float> values, std::uint64_t base) {
  GradientPush push;
  push.base_version = base;
  push.blocks = params::whole(1, values).blocks;
  return push;
}

TEST(GroupPolicies, LatePushesWeighLessAndFlushesDoNot) {
  Job job;
  job.stale_policy = "polynomial power=1";
  GroupPolicies policies = made(job);
  params::ParameterStore store = store_of(job, {0});
  GradientPush push = push_of({12}, 0);
  policies.apply(store, kFast, push, {8, 4, 4});  // two rounds late
  EXPECT_FLOAT_EQ(store.exact()[0], 1);
  push.flush = true;
  policies.apply(store, kFast, push, {8, 4, 4});
  EXPECT_FLOAT_EQ(store.exact()[0], 4);
}

TEST(GroupPolicies, CompensatesByWhatTheWorkerRead) {
  Job job;
  job.stale_policy = "dc_asgd lambda=0.1";
  job.server = job.optimizer = "sgd";
  job.schedule = "constant";
  job.learning_rate = 1;
  Scene scene(job, 4);
  scene.values = {1, 1};
  scene.answer(Instant{}, kFast, 3);
  params::ParameterStore store = store_of(job, {2, 2});
  const GradientPush push = push_of({-1, 0}, 3);
  scene.policies.apply(store, kFast, push, {});
  scene.policies.apply(store, kSlow, push_of({-1, 0}, 77), {});  // nobody knows what it read: as it came
  store.publish();
  EXPECT_FLOAT_EQ(store.exact()[0], 2 - 2 * (1.1F + 1) / 2);  // both of weight 1: the rate adds up, the mean is their mean
  EXPECT_FLOAT_EQ(store.exact()[1], 2);
}

TEST(GroupPolicies, TheFcGroupHasNoPaceOfItsOwn) {
  Job job;
  job.local_policy = "speed";
  job.bound_policy = "dynamic";
  const GroupPolicies policies = made(job, Group::fc);
  EXPECT_EQ(policies.range(), 0U);
  ParameterUpdate update;
  policies.fill(update, {Role::fc_worker, 1});
  EXPECT_EQ(update.local_steps, 0U);
}

}  // namespace
}  // namespace hourglass
