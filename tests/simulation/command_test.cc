// SPDX-License-Identifier: Apache-2.0
// People pause a run, let it go on, ask for a checkpoint and stop it, over a network that loses messages.
#include <gtest/gtest.h>

#include "tests/simulation/cluster.h"

namespace hourglass::testing_cluster {
namespace {
using namespace std::chrono_literals;

class Hand final : public CommandSource {
 public:
  std::deque<AskedCommand> take_commands() override { return std::exchange(waiting_, {}); }
  void give(Order order) { waiting_.push_back({++given_, order}); }

 private:
  std::deque<AskedCommand> waiting_;
  std::uint64_t given_ = 0;
};

struct Case {
  const char* name;
  std::uint32_t fc;
  std::int64_t staleness;
  std::uint32_t local_steps;
};

class Commands : public ::testing::TestWithParam<Case> {
 protected:
  ClusterOptions options() {
    ClusterOptions out;
    out.job.fc_workers = GetParam().fc;
    out.job.staleness = GetParam().staleness;
    out.job.local_steps = GetParam().local_steps;
    out.job.samples = 6400;
    out.network.link.loss = 0.02;
    out.recovery = {1000, 3, true};
    out.commands = &hand_;
    return out;
  }
  Hand hand_;
};

TEST_P(Commands, APausedRunStandsStillKeepsEverybodyAndGoesOnToItsLastSample) {
  Cluster cluster(options());
  ASSERT_TRUE(cluster.run_until_samples(800));
  hand_.give(Order::pause);
  cluster.reactor().run_for(10s);
  EXPECT_EQ(cluster.status()["held"], true);
  EXPECT_EQ(cluster.status()["message"], "paused by command");
  const auto samples = cluster.status()["samples_done"];
  EXPECT_LT(samples, 6400);
  cluster.reactor().run_for(120s);
  EXPECT_EQ(cluster.status()["samples_done"], samples);
  EXPECT_EQ(cluster.status()["phase"], "training");
  hand_.give(Order::resume);
  ASSERT_TRUE(cluster.finish());
  EXPECT_TRUE(cluster.violations().empty()) << cluster.violations().front();
  const auto result = cluster.result();
  EXPECT_EQ(result["status"], "finished");
  EXPECT_EQ(result["samples"], 6400);
  EXPECT_EQ(result["replicas"]["differing"], 0);
}

TEST_P(Commands, ACheckpointIsMadeNowAndAStoppedRunIsSaved) {
  Cluster cluster(options());
  ASSERT_TRUE(cluster.run_until_samples(800));
  EXPECT_EQ(cluster.reactor().metrics_of(kAggregator).value("checkpoints"), 0);
  hand_.give(Order::checkpoint);
  ASSERT_TRUE(cluster.reactor().run_until([&] { return cluster.reactor().metrics_of(kAggregator).value("checkpoints") == 1; }, 60s));
  hand_.give(Order::stop);
  ASSERT_TRUE(cluster.finish());
  EXPECT_EQ(cluster.result()["status"], "stopped");
  EXPECT_LT(cluster.result()["samples"], 6400);
  EXPECT_EQ(cluster.reactor().metrics_of(kAggregator).value("checkpoints"), 2) << "the last one, to go on from";
}

INSTANTIATE_TEST_SUITE_P(Layouts, Commands,
                         testing::Values(Case{"cut", 1, 4, 1}, Case{"cut_synchronous", 1, 0, 1}, Case{"whole_local_steps", 0, 4, 4},
                                         Case{"two_fc", 2, 0, 2}),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace hourglass::testing_cluster
