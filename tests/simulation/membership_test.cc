// SPDX-License-Identifier: Apache-2.0
// Workers join, leave and vanish while a run goes on.
#include <gtest/gtest.h>

#include "learning/nn/safetensors.h"
#include "tests/simulation/cluster.h"

namespace hourglass::testing_cluster {
namespace {
using namespace std::chrono_literals;

class Membership : public testing::TestWithParam<std::int64_t> {
 protected:
  ClusterOptions options() {
    ClusterOptions out;
    out.job.staleness = GetParam();
    out.job.samples = 4000;
    out.job.dead_after_seconds = 5;
    return out;
  }
};

TEST_P(Membership, JoinersTakePart) {
  Cluster cluster(options());
  ASSERT_TRUE(cluster.run_until_samples(600));
  const ActorId late = cluster.add(Role::conv_worker);
  const ActorId later = cluster.add(Role::conv_worker);
  ASSERT_TRUE(cluster.finish()) << cluster.status().dump();
  EXPECT_EQ(cluster.violations(), std::vector<std::string>());
  EXPECT_EQ(cluster.result()["samples"], 4000);
  EXPECT_GT(cluster.pushes_applied().at(late), 5U);
  EXPECT_GT(cluster.pushes_applied().at(later), 5U);
}

TEST_P(Membership, AGracefulLeaverDrainsAndLosesNothing) {
  Cluster cluster(options());
  ASSERT_TRUE(cluster.run_until_samples(600));
  const ActorId leaver = cluster.id(Role::conv_worker, 0);
  cluster.reactor().terminate(leaver);
  ASSERT_TRUE(cluster.reactor().run_until([&] { return cluster.reactor().exit_of(leaver) != nullptr; }, 6s));
  EXPECT_EQ(cluster.reactor().exit_of(leaver)->code, ExitCode::ok) << cluster.reactor().exit_of(leaver)->reason;
  ASSERT_TRUE(cluster.finish()) << cluster.status().dump();
  EXPECT_EQ(cluster.result()["samples"], 4000);
  EXPECT_EQ(cluster.result()["samples_repeated"], 0) << "a leaver returns or finishes its leases";
  EXPECT_EQ(cluster.violations(), std::vector<std::string>());
}

TEST_P(Membership, AVanishedWorkersLeasesReturn) {
  Cluster cluster(options());
  ASSERT_TRUE(cluster.run_until_samples(600));
  ASSERT_TRUE(cluster.reactor().live(cluster.id(Role::conv_worker, 1)));
  cluster.reactor().crash(cluster.id(Role::conv_worker, 1));
  ASSERT_TRUE(cluster.finish()) << cluster.status().dump();
  EXPECT_EQ(cluster.result()["samples"], 4000);
  EXPECT_GT(cluster.result()["samples_repeated"].get<int>(), 0);
  EXPECT_EQ(cluster.violations(), std::vector<std::string>());
}

TEST_P(Membership, AnFcWorkerIsReplaced) {
  Cluster cluster(options());
  ASSERT_TRUE(cluster.run_until_samples(600));
  cluster.reactor().crash(cluster.id(Role::fc_worker, 0));
  cluster.add(Role::fc_worker);
  ASSERT_TRUE(cluster.finish()) << cluster.status().dump();
  EXPECT_EQ(cluster.result()["samples"], 4000);
  EXPECT_GT(cluster.result()["accuracy"].get<double>(), 0.7);
  EXPECT_EQ(cluster.violations(), std::vector<std::string>());
}

TEST_P(Membership, AReplacedFcWorkerGoesOnFromTheLastCollectedState) {
  ClusterOptions setup = options();
  setup.job.evaluate_every = 800;  // each evaluation collects the FC state
  Cluster cluster(setup);
  ASSERT_TRUE(cluster.run_until_samples(3400));
  const auto collected = [&] {
    const auto file = cluster.reactor().storage("aggregator").read("model.safetensors");
    EXPECT_TRUE(file.ok());
    const auto tensors = nn::read_safetensors(*file);
    EXPECT_TRUE(tensors.ok());
    return std::stoull(tensors->metadata.at("fc_version"));
  }();
  ASSERT_GT(collected, 20U);
  cluster.reactor().crash(cluster.id(Role::fc_worker, 0));
  const ActorId heir = cluster.add(Role::fc_worker);
  ASSERT_TRUE(cluster.finish()) << cluster.status().dump();
  EXPECT_GT(cluster.reactor().metrics_of(heir).value("version"), static_cast<double>(collected)) << "it began anew";
  EXPECT_GT(cluster.result()["accuracy"].get<double>(), 0.7) << "what was left of the data is not enough to learn from nothing";
  EXPECT_EQ(cluster.violations(), std::vector<std::string>());
}

TEST_P(Membership, ADataLoaderIsReplacedAndGoesOn) {
  Cluster cluster(options());
  ASSERT_TRUE(cluster.run_until_samples(1000));
  cluster.reactor().crash(cluster.id(Role::data_loader, 0));
  cluster.add(Role::data_loader);
  ASSERT_TRUE(cluster.finish()) << cluster.status().dump();
  EXPECT_EQ(cluster.result()["samples"], 4000);
  EXPECT_EQ(cluster.violations(), std::vector<std::string>());
}

TEST_P(Membership, AStopSavesTheRun) {
  Cluster cluster(options());
  ASSERT_TRUE(cluster.run_until_samples(1000));
  for (const ActorId id : cluster.reactor().live_actors()) cluster.reactor().terminate(id);
  ASSERT_TRUE(cluster.finish(8s)) << cluster.status().dump();
  EXPECT_EQ(cluster.result()["status"], "stopped");
  EXPECT_FALSE(cluster.parameters().empty());
  for (const Role role : {Role::aggregator, Role::conv_worker, Role::fc_worker, Role::data_loader, Role::monitor}) {
    const sim::Exit* exit = cluster.reactor().exit_of(cluster.id(role, 0));
    ASSERT_NE(exit, nullptr) << name_of(role);
    EXPECT_EQ(exit->code, ExitCode::ok) << name_of(role) << ": " << exit->reason;
  }
}

INSTANTIATE_TEST_SUITE_P(Staleness, Membership, testing::Values(0, 4, kUnlimited), [](const auto& row) {
  return row.param == kUnlimited ? std::string("unlimited") : "s" + std::to_string(row.param);
});

TEST(MembershipRules, ASecondFcWorkerIsRefusedWithAReasonAndTakesOverWhenTheFirstDies) {
  ClusterOptions options;
  options.job.samples = 4000;
  Cluster cluster(options);
  ASSERT_TRUE(cluster.run_until_samples(300));
  std::string cause;
  cluster.reactor().set_log([&](ActorId, Severity, std::string_view event, const Fields& fields) {
    if (event == "refused for now") cause = fields.at(0).second;
  });
  const ActorId standby = cluster.add(Role::fc_worker);
  cluster.reactor().run_for(100ms);
  EXPECT_NE(cause.find("fc_workers"), std::string::npos) << cause;
  ASSERT_TRUE(cluster.reactor().live(cluster.id(Role::fc_worker, 0)));
  cluster.reactor().crash(cluster.id(Role::fc_worker, 0));
  ASSERT_TRUE(cluster.finish()) << cluster.status().dump();
  ASSERT_NE(cluster.reactor().exit_of(standby), nullptr);
  EXPECT_EQ(cluster.reactor().exit_of(standby)->code, ExitCode::ok);
  EXPECT_EQ(cluster.result()["samples"], 4000);
}

TEST(MembershipRules, S6_StartWaitsVisiblyForTheMissingWorkerThenGoesOnWithFewer) {
  ClusterOptions options;
  options.job.conv_workers = 4;
  options.job.start_timeout_seconds = 20;
  options.job.samples = 6400;
  Cluster cluster(options);
  cluster.reactor().crash(cluster.id(Role::conv_worker, 3));
  cluster.reactor().run_for(10s);
  EXPECT_EQ(cluster.status()["phase"], "waiting");
  EXPECT_EQ(cluster.status()["message"], "waiting for conv-worker 4 of 4");
  cluster.reactor().run_for(11500ms);
  EXPECT_EQ(cluster.status()["phase"], "training");
  EXPECT_EQ(cluster.status()["message"], "") << "nobody waits any more";
  ASSERT_TRUE(cluster.finish());
  EXPECT_EQ(cluster.result()["samples"], 6400);
}

}  // namespace
}  // namespace hourglass::testing_cluster
