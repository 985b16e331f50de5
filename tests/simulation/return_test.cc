// SPDX-License-Identifier: Apache-2.0
// Processes that come back, come late, or are of another version.
#include <gtest/gtest.h>

#include "messages/hello.h"
#include "messages/run_status.h"
#include "tests/simulation/cluster.h"

namespace hourglass::testing_cluster {
namespace {
using namespace std::chrono_literals;

/// Seconds between a worker's death and its successor's start.
class Return : public testing::TestWithParam<int> {};

TEST_P(Return, R1_R2_TwentyDeathsInARowAndEachSuccessorTrains) {
  ClusterOptions options;
  options.job.samples = 0;
  options.job.epochs = 1000;
  options.job.dead_after_seconds = 5;
  Cluster cluster(options);
  ASSERT_TRUE(cluster.run_until_samples(300));
  ActorId victim = cluster.id(Role::conv_worker, 0);
  for (int death = 1; death <= 20; ++death) {
    ASSERT_TRUE(cluster.reactor().live(victim));
    cluster.reactor().crash(victim);
    cluster.reactor().run_for(std::chrono::milliseconds(GetParam()));
    const ActorId heir = cluster.add(Role::conv_worker);
    ASSERT_NE(heir, victim) << "each process draws an identity of its own";
    ASSERT_TRUE(cluster.reactor().run_until([&] { return cluster.pushes_applied().contains(heir); }, 7s))
        << "death " << death << ": " << cluster.status().dump();
    victim = heir;
  }
  const auto gone = [&] { return cluster.status()["conv_workers"] == 2; };
  EXPECT_TRUE(cluster.reactor().run_until(gone, 10s)) << "the dead are forgotten: " << cluster.status().dump();
  EXPECT_EQ(cluster.reactor().metrics_of(kAggregator).value("members_lost"), 20);
  cluster.reactor().terminate(kAggregator);
  ASSERT_TRUE(cluster.finish()) << cluster.status().dump();
  EXPECT_EQ(cluster.violations(), std::vector<std::string>());
}

INSTANTIATE_TEST_SUITE_P(Milliseconds, Return, testing::Values(100, 1000, 10'000),
                         [](const auto& row) { return "after_" + std::to_string(row.param) + "_ms"; });

TEST(Leaving, R12_TheOnlyFcWorkerSaysThatItsStateFoundNobody) {
  ClusterOptions options;
  options.job.samples = 32'000;
  Cluster cluster(options);
  ASSERT_TRUE(cluster.run_until_samples(600));
  const ActorId fc = cluster.id(Role::fc_worker, 0);
  cluster.reactor().crash(kAggregator);
  cluster.reactor().run_for(100ms);
  cluster.reactor().terminate(fc);
  ASSERT_TRUE(cluster.reactor().run_until([&] { return cluster.reactor().exit_of(fc) != nullptr; }, 6s));
  EXPECT_EQ(cluster.reactor().exit_of(fc)->code, ExitCode::temporary) << cluster.reactor().exit_of(fc)->reason;
}

TEST(Strangers, N7_AProcessOfTheNextProtocolIsRefusedAndBothLogsNameBothVersions) {
  ClusterOptions options;
  options.job.samples = 3200;
  Cluster cluster(options);
  ASSERT_TRUE(cluster.run_until_samples(300));
  const ActorId newer = cluster.add(Role::conv_worker);
  std::string told;
  cluster.reactor().set_log([&](ActorId who, Severity, std::string_view event, const Fields& fields) {
    if (who == kAggregator && event == "refused") told = fields.at(1).second;
  });
  Hello hello;  // before its own
  hello.protocol_min = kProtocolMax + 1;
  hello.protocol_max = kProtocolMax + 1;
  hello.build = "newer";
  ASSERT_TRUE(cluster.reactor().context_of(newer).send(kAggregator, hello).ok());
  ASSERT_TRUE(cluster.reactor().run_until([&] { return cluster.reactor().exit_of(newer) != nullptr; }, 5s));
  const sim::Exit& end = *cluster.reactor().exit_of(newer);
  EXPECT_EQ(end.code, ExitCode::protocol);
  for (const std::string& text : {told, end.reason}) {
    EXPECT_NE(text.find(std::to_string(kProtocolMax + 1) + ".." + std::to_string(kProtocolMax + 1) + " (newer)"), std::string::npos)
        << text;
    EXPECT_NE(text.find(std::to_string(kProtocolMin) + ".." + std::to_string(kProtocolMax)), std::string::npos) << text;
    EXPECT_NE(text.find("update the older one"), std::string::npos) << text;
  }
  ASSERT_TRUE(cluster.finish()) << cluster.status().dump();
  EXPECT_EQ(cluster.result()["samples"], 3200) << "the others go on";
}

TEST(Latecomers, M4_AMonitorThatComesLateGetsTheHistorySinceTheStart) {
  ClusterOptions options;
  options.job.samples = 6400;
  options.job.evaluate_every = 400;
  options.monitor = false;
  Cluster cluster(options);
  ASSERT_TRUE(cluster.run_until_samples(3200));
  std::optional<RunStatus> first;
  const ActorId late = cluster.add(Role::monitor);
  cluster.reactor().add_tap([&](const sim::Delivery& delivery) {
    if (delivery.to != late || delivery.envelope.type != MessageType::run_status || first) return;
    auto status = decode<RunStatus>(*delivery.envelope.body);
    ASSERT_TRUE(status.ok());
    first = std::move(*status);
  });
  ASSERT_TRUE(cluster.reactor().run_until([&] { return first.has_value(); }, 2s)) << "within two seconds";
  ASSERT_GE(first->history.size(), 5U);
  EXPECT_LT(first->history.front().samples, 800U) << "since the start";
  EXPECT_EQ(first->history.size(), cluster.status()["history"].size());
  EXPECT_GE(first->samples_done, 2400U) << "as of the last report";
  EXPECT_GE(first->members.size(), 4U);
  ASSERT_TRUE(cluster.finish()) << cluster.status().dump();
}

}  // namespace
}  // namespace hourglass::testing_cluster
