// SPDX-License-Identifier: Apache-2.0
// Trees of merging nodes between CONV workers and the aggregator.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "actors/job_model.h"
#include "actors/tree.h"
#include "tests/simulation/cluster.h"
#include "tests/simulation/tree_books.h"

namespace hourglass::testing_cluster {
namespace {
using namespace std::chrono_literals;

Job tree_job(std::uint32_t workers, std::uint32_t arity) {
  Job job = small_job();
  job.model = "conv 4 kernel=5 stride=2 | relu | pool 2 | flatten | cut | fc";
  job.conv_workers = workers;
  job.tree_arity = arity;
  job.schedule = "constant";
  job.batch = 8;
  job.dead_after_seconds = 5;
  job.staleness = 0;
  job.outstanding = 1;
  job.samples = std::uint64_t{20} * workers * job.batch;
  return job;
}

std::size_t conv_size(const Job& job) { return make_job_model(job)->conv.size(); }

double norm(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum);
}

/// workers' pushes - what reached the root - what these nodes held when they vanished, relative to the first.
double imbalance(TreeBooks& books, const std::vector<ActorId>& lost = {}) {
  for (const ActorId node : lost) books.bury(node);
  std::vector<double> left = books.of_workers();
  for (std::size_t i = 0; i < left.size(); ++i) left[i] -= books.at_root()[i];
  for (const ActorId node : lost) {
    const auto held = books.held(node);
    for (std::size_t i = 0; i < left.size(); ++i) left[i] -= held[i];
  }
  return norm(left) / norm(books.of_workers());
}

struct Shape {
  const char* name;
  std::uint32_t workers, arity, fc;
};
void PrintTo(const Shape& s, std::ostream* out) { *out << s.name; }

class TreeEquality : public testing::TestWithParam<Shape> {};

TEST_P(TreeEquality, ASynchronousTreeIsTheStar) {
  const auto train = [&](std::uint32_t arity) {
    ClusterOptions options;
    options.job = tree_job(GetParam().workers, arity);
    options.job.fc_workers = GetParam().fc;
    if (GetParam().fc == 0) options.job.model = "conv 4 kernel=5 stride=2 | relu | pool 2 | flatten | fc";
    options.job.learning_rate = 0.005;
    Cluster cluster(options);
    EXPECT_TRUE(cluster.finish()) << cluster.status().dump();
    EXPECT_EQ(cluster.violations(), std::vector<std::string>());
    EXPECT_EQ(cluster.result()["samples"], options.job.samples);
    return cluster.parameters();
  };
  const std::vector<float> star = train(0), tree = train(GetParam().arity);
  ASSERT_EQ(star.size(), tree.size());
  double difference = 0, all = 0;
  for (std::size_t i = 0; i < star.size(); ++i) {
    difference += (double{star[i]} - tree[i]) * (double{star[i]} - tree[i]);
    all += double{star[i]} * star[i];
  }
  RecordProperty("relative_distance", std::to_string(std::sqrt(difference / all)));
  EXPECT_LE(std::sqrt(difference / all), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Shapes, TreeEquality,
                         testing::Values(Shape{"eight_by_two", 8, 2, 1}, Shape{"five_by_two", 5, 2, 1}, Shape{"seven_by_three", 7, 3, 1},
                                         Shape{"eight_by_four_whole", 8, 4, 0}, Shape{"three_by_four", 3, 4, 1}),
                         [](const auto& row) { return std::string(row.param.name); });

struct Mass {
  const char* name;
  std::uint32_t workers, arity;
  std::int64_t staleness;
  const char* compress;
  const char* downlink;
  double keep = 1;
  double loss = 0;
};
void PrintTo(const Mass& m, std::ostream* out) { *out << m.name; }

class TreeMass : public testing::TestWithParam<Mass> {};

TEST_P(TreeMass, WhatWorkersPushReachesTheRoot) {
  ClusterOptions options;
  options.job = tree_job(GetParam().workers, GetParam().arity);
  options.job.staleness = GetParam().staleness;
  options.job.compress = GetParam().compress;
  options.job.downlink = GetParam().downlink;
  options.job.tree_keep = GetParam().keep;
  options.network.link.loss = GetParam().loss;
  options.network.link.jitter = 5ms;
  Cluster cluster(options);
  TreeBooks books(cluster.reactor(), conv_size(options.job));
  if (options.job.staleness != kUnlimited) books.watch_gaps(15, options.job.conv_workers);
  ASSERT_TRUE(cluster.finish()) << cluster.status().dump();
  EXPECT_EQ(cluster.violations(), std::vector<std::string>());
  EXPECT_EQ(cluster.result()["samples"], options.job.samples);
  EXPECT_LE(imbalance(books), 1e-5);
  EXPECT_GT(norm(books.of_workers()), 0.01);
  if (GetParam().loss == 0 && options.job.staleness != kUnlimited) {
    EXPECT_LE(books.widest_gap(), static_cast<std::uint64_t>(options.job.staleness));
  }
  for (std::size_t i = 0; i < Tree::nodes_wanted(options.job); ++i) {
    const sim::Exit* exit = cluster.reactor().exit_of(cluster.id(Role::tree_node, i));
    ASSERT_NE(exit, nullptr);
    EXPECT_EQ(exit->code, ExitCode::ok) << exit->reason;
  }
}

INSTANTIATE_TEST_SUITE_P(Jobs, TreeMass,
                         testing::Values(Mass{"dense", 8, 2, 0, "dense", "dense"},
                                         Mass{"topk", 8, 2, 0, "topk ratio=0.05", "topk ratio=0.05"},
                                         Mass{"topk_keep_two", 9, 3, 0, "topk ratio=0.05", "topk ratio=0.1", 2},
                                         Mass{"bounded", 8, 2, 3, "topk ratio=0.05 | two_level | rice", "topk ratio=0.05"},
                                         Mass{"bounded_dense", 7, 2, 1, "dense", "dense"},
                                         Mass{"unlimited", 8, 4, kUnlimited, "topk ratio=0.05 | two_level | rice", "dense"},
                                         Mass{"lossy_network", 6, 2, 0, "topk ratio=0.1", "topk ratio=0.1", 1, 0.05},
                                         Mass{"lossy_network_bounded", 6, 3, 2, "topk ratio=0.1", "dense", 1, 0.05}),
                         [](const auto& row) { return std::string(row.param.name); });

class TreeFaults : public testing::TestWithParam<std::int64_t> {
 protected:
  static ClusterOptions options() {
    ClusterOptions out;
    out.job = tree_job(8, 2);
    out.job.staleness = GetParam();
    out.job.compress = "topk ratio=0.05";
    out.job.downlink = "topk ratio=0.1";
    out.job.samples = std::uint64_t{60} * 8 * out.job.batch;
    return out;
  }
  static std::uint64_t parents_changed(Cluster& cluster, Role role, std::size_t count) {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += cluster.reactor().metrics_of(cluster.id(role, i)).value("parents_changed");
    return static_cast<std::uint64_t>(sum);
  }
};

TEST_P(TreeFaults, ChildrenOfADeadNodeGoOnUnderItsParentAndOnlyItsResidualIsLost) {
  for (const std::size_t victim : {0U, 3U}) {  // under the aggregator; above workers
    Cluster cluster(options());
    TreeBooks books(cluster.reactor(), conv_size(options().job));
    ASSERT_TRUE(cluster.run_until_samples(2200));
    const ActorId node = cluster.id(Role::tree_node, victim);
    cluster.reactor().crash(node);
    ASSERT_TRUE(cluster.finish()) << cluster.status().dump();
    EXPECT_EQ(cluster.violations(), std::vector<std::string>());
    EXPECT_EQ(cluster.result()["samples"], options().job.samples);
    EXPECT_EQ(parents_changed(cluster, victim == 0 ? Role::tree_node : Role::conv_worker, victim == 0 ? 6 : 8), 2U);
    EXPECT_GT(norm(books.held(node)), 0) << "there was something to lose";
    EXPECT_LE(imbalance(books, {node}), 1e-5);
    EXPECT_EQ(cluster.reactor().metrics_of(kAggregator).value("residuals_lost"), 1);
  }
}

TEST_P(TreeFaults, ANodeThatIsReplacedGetsItsChildrenBack) {
  Cluster cluster(options());
  TreeBooks books(cluster.reactor(), conv_size(options().job));
  ASSERT_TRUE(cluster.run_until_samples(2200));
  const ActorId node = cluster.id(Role::tree_node, 3);
  cluster.reactor().crash(node);
  const ActorId heir = cluster.add(Role::tree_node);
  ASSERT_TRUE(cluster.finish()) << cluster.status().dump();
  EXPECT_EQ(cluster.violations(), std::vector<std::string>());
  EXPECT_EQ(cluster.result()["samples"], options().job.samples);
  EXPECT_LE(imbalance(books, {node}), 1e-5);
  ASSERT_NE(cluster.reactor().exit_of(heir), nullptr);
  EXPECT_EQ(cluster.reactor().exit_of(heir)->code, ExitCode::ok);
}

TEST_P(TreeFaults, ANodeThatLeavesTakesNothingWithIt) {
  for (const std::size_t leaver : {0U, 3U}) {
    Cluster cluster(options());
    TreeBooks books(cluster.reactor(), conv_size(options().job));
    ASSERT_TRUE(cluster.run_until_samples(2200));
    const ActorId node = cluster.id(Role::tree_node, leaver);
    cluster.reactor().terminate(node);
    ASSERT_TRUE(cluster.finish()) << cluster.status().dump();
    EXPECT_EQ(cluster.violations(), std::vector<std::string>());
    EXPECT_EQ(cluster.result()["samples"], options().job.samples);
    ASSERT_NE(cluster.reactor().exit_of(node), nullptr);
    EXPECT_EQ(cluster.reactor().exit_of(node)->code, ExitCode::ok);
    EXPECT_LE(imbalance(books), 1e-5);
    EXPECT_EQ(cluster.reactor().metrics_of(kAggregator).value("residuals_lost"), 0);
  }
}

TEST_P(TreeFaults, WorkersJoinAndVanish) {
  Cluster cluster(options());
  TreeBooks books(cluster.reactor(), conv_size(options().job));
  ASSERT_TRUE(cluster.run_until_samples(2200));
  cluster.add(Role::conv_worker);
  cluster.reactor().crash(cluster.id(Role::conv_worker, 2));
  ASSERT_TRUE(cluster.finish()) << cluster.status().dump();
  EXPECT_EQ(cluster.violations(), std::vector<std::string>());
  EXPECT_EQ(cluster.result()["samples"], options().job.samples);
}

INSTANTIATE_TEST_SUITE_P(Staleness, TreeFaults, testing::Values(0, 3, kUnlimited), [](const auto& row) {
  return row.param == kUnlimited ? std::string("unlimited") : "s" + std::to_string(row.param);
});

/// Random trees with random losses, crashes, leaves and replacements. A failing seed is printed; run it alone with HOURGLASS_TEST_SEED=N.
void run(std::uint64_t seed) {
  Random random(seed * 7919);
  ClusterOptions options;
  options.seed = seed;
  options.job = tree_job(2 + static_cast<std::uint32_t>(random.below(8)), 2 + static_cast<std::uint32_t>(random.below(3)));
  Job& job = options.job;
  const std::int64_t bounds[] = {0, 1, 3, kUnlimited};
  job.staleness = bounds[random.below(4)];
  job.local_steps = 1 + static_cast<std::uint32_t>(random.below(2));
  job.outstanding = 1 + static_cast<std::uint32_t>(random.below(2));
  job.compress = random.below(2) == 0 ? "dense" : "topk ratio=0.05 | two_level | rice";
  job.downlink = random.below(2) == 0 ? "dense" : "topk ratio=0.05";
  job.tree_keep = random.below(2) == 0 ? 1 : 2;
  options.network.link.jitter = random.below(2) == 0 ? 0ms : 30ms;
  options.network.link.loss = random.below(3) == 0 ? 0.2 * random.uniform() : 0;
  options.network.link.duplication = random.below(3) == 0 ? 0.1 : 0;
  Cluster cluster(options);
  const std::size_t faults = random.below(4);
  for (std::size_t i = 0; i < faults; ++i) {
    cluster.reactor().run_for(from_seconds(3 * random.uniform()));
    if (!cluster.reactor().live(kAggregator)) break;
    std::vector<ActorId> candidates;
    for (const ActorId id : cluster.reactor().live_actors()) {
      if (id.role == Role::conv_worker || id.role == Role::tree_node) candidates.push_back(id);
    }
    if (candidates.empty()) break;
    const ActorId victim = candidates[random.below(candidates.size())];
    if (random.below(4) == 0) {
      cluster.reactor().terminate(victim);
    } else {
      cluster.reactor().crash(victim);
    }
    if (victim.role == Role::conv_worker || random.below(2) == 0) cluster.add(victim.role);
  }
  ASSERT_TRUE(cluster.finish()) << "seed " << seed << " hangs: " << cluster.status().dump();
  ASSERT_EQ(cluster.violations(), std::vector<std::string>()) << "seed " << seed;
  ASSERT_EQ(cluster.result()["status"], "finished") << "seed " << seed;
  ASSERT_EQ(cluster.result()["samples"], job.samples) << "seed " << seed;
}

TEST(TreeFaultsRandom, EveryRandomRunEnds) {
  if (const char* only = std::getenv("HOURGLASS_TEST_SEED")) return run(std::strtoull(only, nullptr, 10));
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    run(seed);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace hourglass::testing_cluster
