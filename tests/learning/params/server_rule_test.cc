// SPDX-License-Identifier: Apache-2.0
#include "learning/params/server_rule.h"

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>

#include "base/random.h"
#include "learning/params/adam.h"
#include "learning/params/parameter_store.h"
#include "learning/params/replica.h"

namespace hourglass::params {
namespace {

Job job_of(std::string server) {
  Job job;
  job.server = std::move(server);
  job.optimizer = "sgd";
  job.learning_rate = 0.1;
  job.schedule = "constant";
  return job;
}

compress::ErrorFeedback memory(std::string_view spec, std::size_t size) {
  return compress::ErrorFeedback::make(spec, {{0, size, false, 0}}, size).value();
}

ParameterStore store_of(const Job& job, std::vector<float> initial, std::string_view downlink = "dense") {
  const std::size_t size = initial.size();
  return ParameterStore(std::move(initial), memory(downlink, size), make_server_rule(job, size).value());
}

/// What a worker pushes for a gradient.
std::vector<GradientBlock> push_of(const std::vector<float>& gradient) {
  std::vector<float> minus(gradient.size());
  for (std::size_t i = 0; i < gradient.size(); ++i) minus[i] = -gradient[i];
  return memory("dense", gradient.size()).compress(minus, 0).value();
}

TEST(ServerRule, AddIsNoRule) { EXPECT_EQ(make_server_rule(job_of("add"), 3).value(), nullptr); }

/// By hand: g = (2, -4). m = 0.1 g = (0.2, -0.4), v = 0.001 g^2 = (0.004, 0.016), u = v; delta = -0.1 m / sqrt(u + 1e-8).
/// Then g = 0: m = 0.9 m = (0.18, -0.36), v = 0.999 v is below u, which stays.
TEST(ServerRule, AmsgradStepsOncePerPublicationOnTheMean) {
  ParameterStore store = store_of(job_of("amsgrad"), {1, 1});
  store.apply(push_of({1, -1}), 0.5F);
  EXPECT_EQ(store.exact()[0], 1) << "no step before the publication";
  store.apply(push_of({3, -7}), 0.5F);
  EXPECT_EQ(store.version(), 2U);
  store.publish();
  const double first = 1 - 0.1 * 0.2 / std::sqrt(0.004 + 1e-8);
  const double second = 1 + 0.1 * 0.4 / std::sqrt(0.016 + 1e-8);
  EXPECT_NEAR(store.exact()[0], first, 1e-6);
  EXPECT_NEAR(store.exact()[1], second, 1e-6);
  EXPECT_EQ(store.published_version(), 2U);
  store.apply(push_of({1, -1}), 0.5F);
  store.apply(push_of({-1, 1}), 0.5F);
  store.publish();
  EXPECT_NEAR(store.exact()[0], first - 0.1 * 0.18 / std::sqrt(0.004 + 1e-8), 1e-6);
  EXPECT_NEAR(store.exact()[1], second + 0.1 * 0.36 / std::sqrt(0.016 + 1e-8), 1e-6);
  store.publish();
  EXPECT_NEAR(store.exact()[0], first - 0.1 * 0.18 / std::sqrt(0.004 + 1e-8), 1e-6) << "nothing new, no step";
}

/// A push of weight 1/4 alone: its gradient counts whole, its rate a quarter; the schedule's factor at its progress comes on top.
TEST(ServerRule, RateFollowsWeightAndSchedule) {
  Job job = job_of("sgd");
  job.schedule = "step at=0.5 by=0.1";
  ParameterStore store = store_of(job, {1, 1});
  store.apply(push_of({4, 8}), 0.25F, 0.2);
  store.publish();
  EXPECT_NEAR(store.exact()[0], 1 - 0.25 * 0.1 * 4, 1e-6);
  store.apply(push_of({4, 8}), 0.25F, 0.7);
  store.publish();
  EXPECT_NEAR(store.exact()[0], 1 - 0.25 * 0.1 * 4 - 0.25 * 0.01 * 4, 1e-6);
}

TEST(ServerRule, ALossyDownlinkPublishesStepsAndTheFinalValuesAreExact) {
  Job job = job_of("amsgrad");
  ParameterStore store = store_of(job, std::vector<float>(50, 0.0F), "topk ratio=0.1");
  ParameterStore exact = store_of(job, std::vector<float>(50, 0.0F));
  Random random(1);
  for (int step = 0; step < 10; ++step) {
    std::vector<float> gradient(50);
    for (float& each : gradient) each = static_cast<float>(random.normal());
    for (ParameterStore* each : {&store, &exact}) {
      each->apply(push_of(gradient), 1.0F);
      each->publish();
    }
  }
  EXPECT_TRUE(std::equal(store.exact().begin(), store.exact().end(), exact.exact().begin()));
  EXPECT_NE(store.published(), exact.published());
  EXPECT_GT(store.residual_norm(), 0);
  store.apply(push_of(std::vector<float>(50, 1.0F)), 1.0F);
  exact.apply(push_of(std::vector<float>(50, 1.0F)), 1.0F);
  store.publish_exact();
  exact.publish();
  EXPECT_EQ(store.published(), exact.published());
}

TEST(ServerRule, AnEmptyPushIsAVersionButNoStep) {
  ParameterStore store = store_of(job_of("amsgrad"), {1, 1});
  store.apply(push_of({1, 1}), 1.0F);
  store.publish();
  const float before = store.exact()[0];
  store.apply({}, 1.0F);
  store.publish();
  EXPECT_EQ(store.version(), 2U);
  EXPECT_EQ(store.published_version(), 2U);
  EXPECT_EQ(store.exact()[0], before);
}

TEST(ServerRule, HostilePushesLeaveEverythingFinite) {
  for (const char* rule : {"amsgrad", "adam", "adamw", "one_bit_adam warmup=3", "sgd momentum=0.9"}) {
    ParameterStore store = store_of(job_of(rule), {1, 1, 1, 1});
    const std::vector<std::vector<float>> pushes = {{FLT_MAX, -FLT_MAX, FLT_TRUE_MIN, 1},
                                                    {FLT_MAX, FLT_MAX, -FLT_TRUE_MIN, 1},
                                                    {FLT_MAX, FLT_MAX, 0, 1},
                                                    {-FLT_MAX, 0, 0, 1},
                                                    {0, -FLT_MAX, FLT_MIN, 1},
                                                    {1, 1, 1, 1}};
    for (int round = 0; round < 20; ++round) {
      for (const auto& push : pushes) {
        store.apply(push_of(push), 1.0F);
        store.apply(push_of(push), 1.0F, 1e300);
        store.publish();
        for (const float each : store.exact()) ASSERT_TRUE(std::isfinite(each)) << rule;
      }
    }
    if (std::string_view(rule).find("ams") != std::string_view::npos) {
      EXPECT_LT(store.exact()[3], 0.0F) << "an entry that nobody attacked goes on";
    }
  }
}

TEST(ServerRule, WrongJobsAreRefused) {
  const auto refused = [](const Job& job, std::string_view part) {
    const Status status = check_server_rule(job);
    ASSERT_FALSE(status.ok()) << part;
    EXPECT_EQ(status.error().code, Errc::bad_config);
    EXPECT_NE(status.error().text.find(part), std::string::npos) << status.error().text;
    EXPECT_FALSE(make_server_rule(job, 3).ok());
    EXPECT_FALSE(make_worker_optimizer(job, false, 3).ok());
  };
  refused(job_of("amsgrd"), "did you mean 'amsgrad'");
  refused(job_of("amsgrad beta1=1"), "beta1");
  refused(job_of("amsgrad | sgd"), "one optimizer");
  Job momentum = job_of("amsgrad");
  momentum.optimizer = "sgd momentum=0.9";
  refused(momentum, "train.optimizer = \"sgd\"");
  momentum.optimizer = "adam";
  refused(momentum, "train.optimizer = \"sgd\"");
  Job steps = job_of("one_bit_adam");
  steps.local_steps = 2;
  refused(steps, "local_steps = 1");
  steps.server = "amsgrad";
  EXPECT_TRUE(check_server_rule(steps).ok());
}

TEST(Replica, GradientsDoNotTouchWhatIsComputedWith) {
  const std::vector<float> initial = {1, 2, 3};
  Replica replica = Replica::of_gradients(initial, memory("topk ratio=0.4", 3), std::nullopt);
  replica.step(std::vector<float>{5, -1, 7});
  EXPECT_EQ(*replica.working(), initial);
  const auto blocks = replica.push(0, false, false).value();
  EXPECT_EQ(*replica.working(), initial);
  std::vector<float> sum(3, 0.0F);
  for (const auto& block : blocks) ASSERT_TRUE(compress::accumulate(block, sum).ok());
  EXPECT_EQ(sum, (std::vector<float>{5, 0, 7}));
  replica.settle(0, Verdict::applied);
  ParameterUpdate update;
  update.applied_clock = 1;
  update.deltas.push_back({1, push_of({-1, -1, -1}), {}});
  ASSERT_TRUE(replica.absorb(update).ok());
  EXPECT_EQ(*replica.working(), (std::vector<float>{2, 3, 4}));
}

TEST(Replica, PushesEverythingUntilTheWarmupEnds) {
  Replica replica = Replica::of_gradients({0, 0, 0}, memory("topk ratio=0.3", 3), memory("dense", 3));
  const auto pushed = [&](std::uint64_t clock) {
    replica.step(std::vector<float>{5, -1, 7});
    std::vector<float> sum(3, 0.0F);
    for (const auto& block : replica.push(clock, false, false).value()) EXPECT_TRUE(compress::accumulate(block, sum).ok());
    return sum;
  };
  EXPECT_EQ(pushed(0), (std::vector<float>{5, -1, 7}));
  replica.settle(0, Verdict::stale);
  EXPECT_EQ(pushed(1), (std::vector<float>{10, -2, 14})) << "what was rejected comes again";
  replica.end_warmup();
  EXPECT_EQ(pushed(2), (std::vector<float>{0, 0, 7}));
  EXPECT_GT(replica.residual_norm(), 5);
}

/// Two workers with momenta of their own and the aggregator, uncompressed, against 1-bit Adam in one place on the mean gradient.
TEST(OneBitAdam, WorkersMomentaAddUpToTheirMeans) {
  constexpr std::size_t kSize = 40;
  Job job = job_of("one_bit_adam warmup=5");
  job.weight_decay = 0.01;
  std::vector<float> initial(kSize);
  Random random(3);
  for (float& each : initial) each = static_cast<float>(random.normal());
  ParameterStore store = store_of(job, initial);
  std::vector<std::unique_ptr<Optimizer>> workers;
  for (int w = 0; w < 2; ++w) workers.push_back(make_worker_optimizer(job, false, kSize).value());
  const auto single = make_worker_optimizer(job, true, kSize).value();
  std::vector<float> alone = initial;
  for (int step = 0; step < 30; ++step) {
    std::vector<float> mean(kSize, 0.0F);
    const std::vector<float> here(store.exact().begin(), store.exact().end());
    for (auto& worker : workers) {
      std::vector<float> gradient(kSize);
      for (std::size_t i = 0; i < kSize; ++i) {
        gradient[i] = static_cast<float>(random.normal());
        mean[i] += gradient[i] / 2;
      }
      if (store.wants_momentum()) worker->freeze();
      worker->step(here, gradient, 1.0);
      for (float& each : gradient) each = -each;
      store.apply(push_of(gradient), 0.5F);
    }
    store.publish();
    single->step(alone, mean, job.learning_rate);
    for (std::size_t i = 0; i < kSize; ++i) alone[i] += mean[i];
    EXPECT_EQ(store.wants_momentum(), step + 1 >= 5);
    for (std::size_t i = 0; i < kSize; ++i) ASSERT_NEAR(store.exact()[i], alone[i], 2e-4) << step;
  }
}

}  // namespace
}  // namespace hourglass::params
