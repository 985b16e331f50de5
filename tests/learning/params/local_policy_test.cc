// SPDX-License-Identifier: Apache-2.0
#include "learning/params/local_policy.h"

#include <gtest/gtest.h>

namespace hourglass::params {
namespace {
using namespace std::chrono_literals;

ActorId worker(std::uint32_t index) { return {Role::conv_worker, index}; }

std::unique_ptr<LocalPolicy> made(std::string spec, std::uint32_t steps = 1, std::uint32_t batch = 32) {
  Job job;
  job.local_policy = std::move(spec);
  job.local_steps = steps;
  job.batch = batch;
  auto policy = make_local_policy(job);
  EXPECT_TRUE(policy.ok()) << (policy.ok() ? "" : policy.error().text);
  return std::move(policy).value();
}

UnitReport took(Duration time, std::uint32_t samples = 32) { return {samples, time, {}}; }

TEST(LocalPolicy, FixedIsTheJobsForEverybody) {
  const auto policy = made("fixed", 4);
  policy->pushed(worker(1), took(1s));
  policy->pushed(worker(2), took(10s));
  EXPECT_EQ(policy->work(worker(1)), (LocalWork{4, 1}));
  EXPECT_EQ(policy->work(worker(2)), (LocalWork{4, 1}));
}

TEST(LocalPolicy, FastWorkersTakeMoreStepsInTheTimeOfTheSlowest) {
  for (const std::uint32_t steps : {1U, 3U}) {
    const auto policy = made("speed", steps);
    policy->pushed(worker(1), took(10ms));
    policy->pushed(worker(2), took(25ms));
    policy->pushed(worker(3), took(100ms));
    EXPECT_EQ(policy->work(worker(1)).steps, 10 * steps);
    EXPECT_EQ(policy->work(worker(2)).steps, 4 * steps);
    EXPECT_EQ(policy->work(worker(3)).steps, steps);
    EXPECT_EQ(policy->work(worker(9)).steps, steps);  // nothing is known of it yet
    policy->left(worker(3));
    EXPECT_EQ(policy->work(worker(1)).steps, (5 * steps + 1) / 2);
  }
}

TEST(LocalPolicy, SpeedsThatAreAlikeAreEqual) {
  const auto policy = made("speed");
  policy->pushed(worker(1), took(100ms));
  policy->pushed(worker(2), took(104ms));
  EXPECT_EQ(policy->work(worker(1)).steps, 1U);
  policy->pushed(worker(3), took(120ms));
  EXPECT_EQ(policy->work(worker(1)).steps, 2U);
}

TEST(LocalPolicy, SpeedIsThatOfASample) {
  const auto policy = made("speed");
  policy->pushed(worker(1), took(100ms, 320));  // ten steps
  policy->pushed(worker(2), took(100ms, 32));
  EXPECT_EQ(policy->work(worker(1)).steps, 10U);
  EXPECT_EQ(policy->work(worker(2)).steps, 1U);
}

TEST(LocalPolicy, OnePauseIsNoSpeed) {
  const auto policy = made("speed");
  for (int i = 0; i < 5; ++i) {
    policy->pushed(worker(1), took(i == 2 ? 5s : 10ms));
    policy->pushed(worker(2), took(10ms));
  }
  EXPECT_EQ(policy->work(worker(1)).steps, 1U);
  EXPECT_EQ(policy->work(worker(2)).steps, 1U);
  policy->pushed(worker(1), {32, Duration::zero(), {}});  // unknown
  policy->pushed(worker(1), {0, 1s, {}});                 // nothing done
  EXPECT_EQ(policy->work(worker(2)).steps, 1U);
}

TEST(LocalPolicy, StepsHaveALimit) {
  const auto policy = made("speed max=16");
  policy->pushed(worker(1), took(1ms));
  policy->pushed(worker(2), took(1s));
  EXPECT_EQ(policy->work(worker(1)).steps, 16U);
}

TEST(LocalPolicy, BatchesGrowWithTheNoiseOfAllWorkers) {
  const auto policy = made("adaptive_batch max=512 eta=1", 2, 32);
  ASSERT_TRUE(policy->wants_noise());
  const auto tell = [&](std::uint32_t index, double variance) { policy->pushed(worker(index), {64, 1ms, {variance, 1}}); };
  tell(1, 16);  // less than one batch's worth
  tell(2, 16);
  tell(1, 100);
  EXPECT_EQ(policy->work(worker(1)), (LocalWork{2, 1}));
  tell(2, 60);
  EXPECT_EQ(policy->work(worker(1)), (LocalWork{2, 1}));
  tell(1, 1);
  EXPECT_EQ(policy->work(worker(1)), (LocalWork{2, 3}));  // 80 samples: 3 batches
  tell(2, 1);
  tell(1, 1e9);
  EXPECT_EQ(policy->work(worker(2)), (LocalWork{2, 3}));  // never back
  policy->left(worker(1));
  tell(2, 1);
  tell(2, 1);
  EXPECT_EQ(policy->work(worker(2)), (LocalWork{2, 3}));  // what the one that is gone told is gone
  tell(2, 1e9);
  tell(2, 1e9);
  EXPECT_EQ(policy->work(worker(1)), (LocalWork{2, 16}));  // 512 samples
}

TEST(LocalPolicy, AUnitStaysWithinWhatAWorkerMayHold) {
  const auto policy = made("adaptive_batch max=1000000", 500, 1);
  for (int i = 0; i < 2; ++i) policy->pushed(worker(1), {1, 1ms, {1e12, 1e-3}});
  EXPECT_EQ(policy->work(worker(1)), (LocalWork{500, 2}));
}

TEST(LocalPolicy, RefusesWhatDoesNotGoTogether) {
  const auto text_of = [](auto change) {
    Job job;
    job.local_policy = "speed";
    change(job);
    const Status status = check_local_policy(job);
    return status.ok() ? std::string("accepted") : status.error().text;
  };
  EXPECT_EQ(text_of([](Job&) {}), "accepted");
  EXPECT_NE(text_of([](Job& j) { j.server = "amsgrad"; }).find("set train.server = \"add\""), std::string::npos);
  EXPECT_NE(text_of([](Job& j) { j.tree_arity = 2; }).find("cluster.tree_arity = 0"), std::string::npos);
  EXPECT_NE(text_of([](Job& j) { j.staleness = 0; }).find("train.staleness = 1 or more"), std::string::npos);
  EXPECT_EQ(text_of([](Job& j) { j.staleness = j.fc_workers = 0; }), "accepted");
  EXPECT_NE(text_of([](Job& j) { j.local_steps = 65; }).find("less than train.local_steps"), std::string::npos);
  EXPECT_NE(text_of([](Job& j) { j.local_policy = "adaptive_batch"; }).find("train.local_steps = 2 or more"), std::string::npos);
  EXPECT_NE(text_of([](Job& j) { j.local_policy = "adaptive_batch max=16"; }).find("less than train.batch"), std::string::npos);
  EXPECT_NE(text_of([](Job& j) { j.local_policy = "spead"; }).find("did you mean 'speed'"), std::string::npos);
}

}  // namespace
}  // namespace hourglass::params
