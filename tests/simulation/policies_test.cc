// SPDX-License-Identifier: Apache-2.0
// Staleness, local steps and stragglers: whole clusters whose workers are not equally fast.
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "messages/all_messages.h"
#include "services/simulation/clock_watch.h"
#include "tests/simulation/cluster.h"

namespace hourglass::testing_cluster {
namespace {
using namespace std::chrono_literals;

/// The whole model on the CONV workers.
Job whole_job(std::uint32_t workers) {
  Job job = small_job();
  job.model = "conv 16 kernel=5 stride=2 | relu | pool 2 | flatten | fc";
  job.conv_workers = workers;
  job.fc_workers = 0;
  job.batch = 16;
  job.samples = 4800;
  return job;
}

/// A batch takes 20 ms times the factor of the worker that is in this place; others 20 ms.
void slow_down(Cluster& cluster, const std::vector<double>& factors) {
  std::map<ActorId, double> slow;
  for (std::size_t i = 0; i < factors.size(); ++i) slow[cluster.id(Role::conv_worker, i)] = factors[i];
  cluster.reactor().set_busy_time([slow](const sim::Delivery& delivery) -> Duration {
    if (delivery.envelope.type != MessageType::batch || delivery.envelope.traffic == Traffic::evaluation) return Duration::zero();
    const auto found = slow.find(delivery.to);
    return from_seconds(0.02 * (found == slow.end() ? 1 : found->second));
  });
}

struct Outcome {
  nlohmann::json result;
  double samples_per_s = 0;  ///< of the training phase
  double accuracy = 0;
  std::uint64_t gap = 0;  ///< largest distance between clocks
  std::vector<float> parameters;
  std::map<std::uint64_t, std::uint64_t> published;  ///< fingerprints by version, of runs that publish whole values
};

Outcome run(const Job& job, const std::vector<double>& factors, std::uint64_t seed = 1) {
  ClusterOptions options;
  options.job = job;
  options.seed = seed;
  Cluster cluster(options);
  const ClockWatch watch(cluster.reactor());
  slow_down(cluster, factors);
  Outcome out;
  cluster.reactor().add_tap([&out](const sim::Delivery& delivery) {
    if (delivery.envelope.type != MessageType::parameter_update || delivery.envelope.from != kAggregator) return;
    const auto update = decode<ParameterUpdate>(*delivery.envelope.body);
    if (!update.ok() || !update->absolute) return;
    out.published[update->deltas.back().to] = fingerprint(update->deltas.back().blocks.front().values);
  });
  EXPECT_TRUE(cluster.finish()) << cluster.status().dump();
  EXPECT_EQ(cluster.violations(), std::vector<std::string>());
  out.result = cluster.result();
  out.samples_per_s = out.result["samples_per_s"];
  out.accuracy = out.result["accuracy"];
  out.gap = watch.gap_max();
  out.parameters = cluster.parameters();
  const auto& ledger = out.result["ledger"];
  std::uint64_t rejected = 0;
  for (const auto& [reason, count] : ledger["rejected"].items()) rejected += count.get<std::uint64_t>();
  EXPECT_EQ(rejected, 0U) << ledger.dump();
  EXPECT_EQ(ledger["received"], ledger["applied"]);
  EXPECT_EQ(out.result["samples"], job.samples);
  return out;
}

double relative_distance(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    difference += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
    norm += double{b[i]} * b[i];
  }
  return std::sqrt(difference / norm);
}

/// Workers of speeds 0.58, 0.75, 1.51 and 3.33 s a step, plain SGD, outer rate 0.5: with a buffer of a whole round and bound 0 it does not
/// matter who is how fast, to the last bit.
TEST(Policies, A1_DelayedAveragingOfUnequalWorkersIsTheSynchronousRun) {
  Job job = whole_job(4);
  job.staleness = 0;
  job.outstanding = 1;
  job.optimizer = "sgd";
  job.samples = 1600;
  job.apply_policy = "outer rate=0.5";
  const Outcome synchronous = run(job, {});
  const Outcome unequal = run(job, {0.58, 0.75, 1.51, 3.33});
  EXPECT_EQ(unequal.parameters, synchronous.parameters);
  EXPECT_EQ(unequal.published, synchronous.published);  // after each round
  EXPECT_GE(unequal.published.size(), 25U);
  EXPECT_NEAR(unequal.result["loss"].get<double>(), synchronous.result["loss"].get<double>(), 1e-9);
  EXPECT_GT(synchronous.samples_per_s, 2 * unequal.samples_per_s);  // they were unequal
  job.apply_policy = "each";
  job.learning_rate *= 0.5;  // without momentum, the outer rate is a factor
  const Outcome plain = run(job, {});
  EXPECT_LT(relative_distance(unequal.parameters, plain.parameters), 1e-4);
}

/// Thirty workers without any bound, on a linear classifier.
TEST(Policies, A7_ThirtyAsynchronousWorkersStayFinite) {
  Job job = whole_job(30);
  job.model = "flatten | fc";
  job.staleness = kUnlimited;
  job.batch = 4;
  job.samples = 6000;
  const Outcome out = run(job, {10, 5, 3});
  for (const float value : out.parameters) ASSERT_TRUE(std::isfinite(value));
  EXPECT_GT(out.accuracy, 0.5);
  const auto& histogram = out.result["staleness"]["histogram"];
  std::uint64_t counted = 0;
  for (const auto& [range, count] : histogram.items()) counted += count.get<std::uint64_t>();
  EXPECT_GE(histogram.size(), 5U) << histogram.dump();
  EXPECT_GT(counted, 1400U) << histogram.dump();
  EXPECT_GT(out.result["staleness"]["max"].get<std::uint64_t>(), 29U);
}

/// The clocks of the fastest and the slowest never differ by more than the bound, and reach it where a worker is ten times slower.
TEST(Policies, A8_ClocksStayWithinTheBound) {
  for (const std::int64_t bound : {0, 1, 4}) {
    Job job = whole_job(4);
    job.staleness = bound;
    job.samples = 3200;
    EXPECT_EQ(run(job, {1, 10, 1, 1}).gap, static_cast<std::uint64_t>(bound));
  }
  Job job = whole_job(4);
  job.staleness = kUnlimited;
  job.samples = 9600;
  const Outcome unlimited = run(job, {1, 10, 1, 1});
  EXPECT_GT(unlimited.gap, 20U);
  EXPECT_GT(unlimited.samples_per_s, 16 * 2 / 0.02);  // nobody waits, but at the end for the slowest's last batches
}

/// Bound 0 is bulk synchronous: as fast as the slowest, and the same model whoever that is.
TEST(Policies, A8_BoundZeroIsBulkSynchronous) {
  Job job = whole_job(4);
  job.staleness = 0;
  job.optimizer = "sgd";
  job.samples = 3200;
  const Outcome equal = run(job, {});
  const Outcome slow = run(job, {1, 10, 1, 1});
  EXPECT_LT(relative_distance(slow.parameters, equal.parameters), 1e-4);
  EXPECT_LE(slow.samples_per_s, 16 * 4 / 0.2);
  EXPECT_GT(equal.samples_per_s, 5 * slow.samples_per_s);
}

TEST(Policies, A11_AsynchronousIsNotSlowerThanSynchronous) {
  Job job = whole_job(4);
  job.staleness = 0;
  const double synchronous = run(job, {}).samples_per_s;
  job.staleness = kUnlimited;
  EXPECT_GE(run(job, {}).samples_per_s, 0.95 * synchronous);
  job.staleness = 4;
  EXPECT_GE(run(job, {}).samples_per_s, 0.95 * synchronous);
}

TEST(Policies, A12_OneOfFourThreeTimesSlower) {
  Job job = whole_job(4);
  job.samples = 9600;
  job.staleness = 0;
  const Outcome synchronous = run(job, {3});
  for (const char* policy : {"unlimited", "speed"}) {
    Job faster = job;
    faster.staleness = std::string(policy) == "speed" ? 4 : kUnlimited;
    faster.local_policy = std::string(policy) == "speed" ? "speed" : "fixed";
    const Outcome out = run(faster, {3});
    EXPECT_GE(out.samples_per_s, 1.35 * synchronous.samples_per_s) << policy;
    EXPECT_GE(out.accuracy, synchronous.accuracy - 0.01) << policy;
  }
}

/// A worker ten times slower sets everybody's pace, whatever the bound; with steps by speed it does not, and clocks stay within the bound.
TEST(Policies, StepsBySpeedReachTheSumOfTheSpeeds) {
  Job job = whole_job(4);
  job.samples = 32000;
  job.staleness = 4;
  job.outstanding = 1;
  const double sum_of_speeds = 16 * 3.1 / 0.02;
  EXPECT_LT(run(job, {10}).samples_per_s, 0.5 * sum_of_speeds);
  job.local_policy = "speed";
  const Outcome out = run(job, {10});
  EXPECT_GE(out.samples_per_s, 0.9 * sum_of_speeds);
  EXPECT_LE(out.gap, 4U);
  EXPECT_GT(out.accuracy, 0.8);
}

/// The global batch stays: four workers with a quarter of it each are one worker. The local batch stays: the learning rate is that of the
/// global one, which is four times as large, so there are a quarter of the steps.
TEST(Policies, A14_OneToFourWorkersAtAFixedGlobalBatch) {
  Job job = whole_job(1);
  job.staleness = 0;
  job.outstanding = 1;
  job.batch = 64;
  job.optimizer = "sgd";
  job.learning_rate = 0.02;
  job.schedule = "constant";
  job.samples = 3200;
  job.evaluate_every = 640;
  const Outcome one = run(job, {});
  job.conv_workers = 4;
  job.batch = 16;
  const Outcome four = run(job, {});
  ASSERT_EQ(one.result["history"].size(), four.result["history"].size());
  for (std::size_t i = 0; i < one.result["history"].size(); ++i) {
    const double loss = one.result["history"][i]["loss"];
    EXPECT_NEAR(four.result["history"][i]["loss"].get<double>(), loss, 0.05 * loss) << i;
  }
  EXPECT_LT(relative_distance(four.parameters, one.parameters), 1e-3);
  job.batch = 64;
  const Outcome local = run(job, {});
  const auto pushes = [](const Outcome& out, std::uint64_t flushes) {
    return out.result["versions"]["conv"].get<std::uint64_t>() - flushes;
  };
  EXPECT_EQ(pushes(local, 4), pushes(one, 1));  // as many, each of weight 1/4
  EXPECT_GT(local.result["loss"].get<double>(), one.result["loss"].get<double>());
}

TEST(Policies, A10_AsynchronousWithoutAnOptimizerOfItsOwnTakesTheDefault) {
  Job job = whole_job(3);
  job.optimizer = Job{}.optimizer;
  job.staleness = kUnlimited;
  EXPECT_GT(run(job, {}).accuracy, 0.8);
}

struct Setting {
  const char* name;
  std::uint32_t fc = 0;
  std::int64_t staleness = 4;
  std::uint32_t local_steps = 1;
  const char* bound = "fixed";
  const char* local = "fixed";
  const char* stale = "equal";
  const char* apply = "each";
  const char* take = "keep";
  const char* server = "add";
  const char* compress = "dense";
  const char* downlink = "dense";
  double learning_rate = 0.05;
};
void PrintTo(const Setting& setting, std::ostream* out) { *out << setting.name; }

class PolicyRuns : public testing::TestWithParam<Setting> {};

/// Every policy, alone and with compression, trains beside a worker that is four times slower, and keeps the books.
TEST_P(PolicyRuns, LearnsBesideAStraggler) {
  const Setting& setting = GetParam();
  Job job = setting.fc > 0 ? small_job() : whole_job(3);
  job.conv_workers = 3;
  job.fc_workers = setting.fc;
  job.batch = 16;
  job.samples = 6000;
  job.staleness = setting.staleness;
  job.local_steps = setting.local_steps;
  job.bound_policy = setting.bound;
  job.local_policy = setting.local;
  job.stale_policy = setting.stale;
  job.apply_policy = setting.apply;
  job.take_policy = setting.take;
  job.server = setting.server;
  job.compress = setting.compress;
  job.downlink = setting.downlink;
  job.learning_rate = setting.learning_rate;
  if (job.server != std::string("add")) job.optimizer = "sgd";
  if (job.apply_policy.starts_with("delayed")) job.optimizer = "sgd";
  const Outcome out = run(job, {4});
  EXPECT_GT(out.accuracy, 0.75) << out.result.dump();
  if (setting.staleness >= 0) {
    const std::uint64_t range = setting.bound == std::string("fixed") ? 0 : 3;
    EXPECT_LE(out.gap, static_cast<std::uint64_t>(setting.staleness) + range);
  }
}

constexpr const char* kSparse = "topk ratio=0.1 | two_level | rice";
INSTANTIATE_TEST_SUITE_P(
    Each, PolicyRuns,
    testing::Values(Setting{"polynomial", 0, kUnlimited, 1, "fixed", "fixed", "polynomial"},
                    Setting{"inverse_two_fc", 2, 8, 1, "fixed", "fixed", "inverse"},
                    Setting{"dc_asgd", 0, kUnlimited, 1, "fixed", "fixed", "dc_asgd", "each", "keep", "sgd"},
                    Setting{"dc_asgd_adaptive_sparse", 0, 4, 1, "fixed", "fixed", "dc_asgd lambda=0.1 decay=0.95", "each", "keep",
                            "sgd momentum=0.5", kSparse, kSparse},
                    Setting{"dc_asgd_two_fc", 2, 4, 1, "fixed", "fixed", "dc_asgd", "each", "keep", "sgd"},
                    Setting{"speed", 0, 4, 2, "fixed", "speed"}, Setting{"speed_cut", 1, 2, 1, "fixed", "speed max=8"},
                    Setting{"speed_two_fc_sparse", 2, 2, 1, "fixed", "speed", "equal", "each", "keep", "add", kSparse, kSparse},
                    Setting{"speed_synchronous", 0, 0, 1, "fixed", "speed"}, Setting{"speed_unlimited", 0, kUnlimited, 1, "fixed", "speed"},
                    Setting{"adaptive_batch", 0, 4, 4, "fixed", "adaptive_batch max=64"},
                    Setting{"adaptive_batch_cut", 1, 2, 2, "fixed", "adaptive_batch max=48", "equal", "each", "keep", "add", kSparse},
                    Setting{"dynamic", 0, 1, 1, "dynamic range=3"}, Setting{"dynamic_from_zero", 0, 0, 1, "dynamic range=3"},
                    Setting{"dynamic_cut", 2, 1, 1, "dynamic range=3"},
                    Setting{"buffer", 0, 4, 1, "fixed", "fixed", "equal", "buffer size=5"},
                    Setting{"fedbuff", 0, kUnlimited, 2, "fixed", "fixed", "polynomial", "buffer"},
                    Setting{"buffer_sparse", 0, 4, 1, "fixed", "fixed", "equal", "buffer size=4", "keep", "add", kSparse, kSparse},
                    Setting{"buffer_amsgrad", 0, 4, 1, "fixed", "fixed", "equal", "buffer", "keep", "amsgrad", "dense", "dense", 0.002},
                    Setting{"buffer_two_fc", 2, 1, 1, "fixed", "fixed", "equal", "buffer size=2"},
                    Setting{"diloco", 0, 0, 4, "fixed", "fixed", "equal", "outer rate=0.7 momentum=0.5"},
                    Setting{"delayed_nesterov", 0, kUnlimited, 2, "fixed", "fixed", "equal", "delayed_nesterov momentum=0.5"},
                    Setting{"mix", 0, 0, 4, "fixed", "fixed", "equal", "each", "mix alpha=0.3"}),
    [](const auto& row) { return std::string(row.param.name); });

/// With a buffer workers still read their own writes: a worker alone with a buffer of 3 computes as if there were none, but for rounding.
TEST(Policies, ABufferHidesNobodysOwnPushes) {
  Job job = whole_job(1);
  job.staleness = kUnlimited;
  job.outstanding = 1;
  job.samples = 1600;
  job.learning_rate = 0.01;
  const Outcome plain = run(job, {});
  job.apply_policy = "buffer size=3";
  const Outcome buffered = run(job, {});
  EXPECT_LT(relative_distance(buffered.parameters, plain.parameters), 1e-3);
  job.apply_policy = "each";
  job.downlink = "nonzero";
  job.publish_every = 3;
  const Outcome rarely = run(job, {});
  EXPECT_LT(relative_distance(rarely.parameters, plain.parameters), 1e-3);
}

/// Where all are equally fast, everybody takes the same steps, and the bound is used as ever.
TEST(Policies, StepsBySpeedOfEqualWorkersAreEqual) {
  Job job = whole_job(3);
  job.local_policy = "speed";
  const Outcome out = run(job, {});
  job.local_policy = "fixed";
  EXPECT_EQ(out.result["versions"]["conv"], run(job, {}).result["versions"]["conv"]);
}

}  // namespace
}  // namespace hourglass::testing_cluster
