// SPDX-License-Identifier: Apache-2.0
// Workers join, leave and vanish while a run goes on.
#include <gtest/gtest.h>

#include "learning/nn/safetensors.h"
#include "messages/all_messages.h"
#include "messages/codec.h"
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

TEST_P(Membership, R2_AVanishedWorkersLeasesReturn) {
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

TEST_P(Membership, WithoutAConvWorkerTheRunIsPausedVisiblyAndResumesWithTheNextOne) {
  Cluster cluster(options());
  ASSERT_TRUE(cluster.run_until_samples(600));
  for (const std::size_t place : {0, 1}) cluster.reactor().crash(cluster.id(Role::conv_worker, place));
  cluster.reactor().run_for(8s);
  EXPECT_EQ(cluster.status()["phase"], "training");
  EXPECT_EQ(cluster.status()["message"], "paused: no conv-worker; training goes on when one joins");
  const auto before = cluster.status()["samples_done"];
  cluster.reactor().run_for(5s);
  EXPECT_EQ(cluster.status()["samples_done"], before);
  cluster.add(Role::conv_worker);
  cluster.reactor().run_for(3s);
  EXPECT_EQ(cluster.status()["message"], "");
  ASSERT_TRUE(cluster.finish()) << cluster.status().dump();
  EXPECT_EQ(cluster.result()["samples"], 4000);
  EXPECT_EQ(cluster.violations(), std::vector<std::string>());
}

TEST_P(Membership, R15_TheSameWorkerIsKilledAndReplacedTenTimesInARow) {
  ClusterOptions setup = options();
  setup.job.samples = 9000;
  Cluster cluster(setup);
  ASSERT_TRUE(cluster.run_until_samples(300));
  ActorId victim = cluster.id(Role::conv_worker, 0);
  for (int death = 0; death < 10; ++death) {
    ASSERT_TRUE(cluster.reactor().live(victim)) << "death " << death;
    cluster.reactor().crash(victim);
    victim = cluster.add(Role::conv_worker);
    const auto trains = [&] { return cluster.pushes_applied().contains(victim); };
    ASSERT_TRUE(cluster.reactor().run_until(trains, 12s))
        << "the heir of death " << death << " does not train: " << cluster.status().dump();
  }
  ASSERT_TRUE(cluster.finish()) << cluster.status().dump();
  EXPECT_EQ(cluster.result()["samples"], 9000);
  EXPECT_EQ(cluster.violations(), std::vector<std::string>());
}

TEST_P(Membership, R16_TwoOfFourWorkersDieAtTheSameMomentAndTheRestGoOn) {
  ClusterOptions setup = options();
  setup.job.conv_workers = 4;
  Cluster cluster(setup);
  ASSERT_TRUE(cluster.run_until_samples(600));
  for (const std::size_t place : {1, 2}) {
    ASSERT_TRUE(cluster.reactor().live(cluster.id(Role::conv_worker, place)));
    cluster.reactor().crash(cluster.id(Role::conv_worker, place));
  }
  ASSERT_TRUE(cluster.finish()) << cluster.status().dump();
  EXPECT_EQ(cluster.result()["samples"], 4000);
  EXPECT_EQ(cluster.status()["conv_workers"], 0) << "all have said goodbye";
  EXPECT_EQ(cluster.violations(), std::vector<std::string>());
}

TEST_P(Membership, R7_ABusyOneAndOneThatStandsStillForAWhileAreNotCalledDead) {
  Cluster cluster(options());
  ASSERT_TRUE(cluster.run_until_samples(600));
  cluster.reactor().freeze(cluster.id(Role::conv_worker, 0), 4s);  // 0.8 of the limit
  cluster.reactor().run_for(5s);
  cluster.reactor().hang(cluster.id(Role::conv_worker, 1), 15s);  // one batch that takes three times the limit: its heart beats on
  cluster.reactor().run_for(16s);
  EXPECT_EQ(cluster.reactor().metrics_of(kAggregator).value("members_lost"), 0);
  ASSERT_TRUE(cluster.finish()) << cluster.status().dump();
  EXPECT_LE(cluster.result()["samples_repeated"].get<int>(), 32)
      << "at most the batch that reached the frozen one, and that it did not know of";
  EXPECT_EQ(cluster.violations(), std::vector<std::string>());
}

TEST_P(Membership, AnAggregatorThatStoodStillCallsNobodyDead) {
  Cluster cluster(options());
  ASSERT_TRUE(cluster.run_until_samples(600));
  cluster.reactor().freeze(kAggregator, 9s);
  cluster.reactor().run_for(10s);
  ASSERT_TRUE(cluster.finish()) << cluster.status().dump();
  EXPECT_EQ(cluster.reactor().metrics_of(kAggregator).value("members_lost"), 0);
  EXPECT_EQ(cluster.result()["samples"], 4000);
  EXPECT_EQ(cluster.violations(), std::vector<std::string>());
}

TEST_P(Membership, R7_OneThatWasDroppedComesBackByItself) {
  ClusterOptions setup = options();
  setup.job.samples = 9000;
  Cluster cluster(setup);
  ASSERT_TRUE(cluster.run_until_samples(600));
  const ActorId sleeper = cluster.id(Role::conv_worker, 0);
  cluster.reactor().freeze(sleeper, 9s);
  cluster.reactor().run_for(8s);
  ASSERT_EQ(cluster.reactor().metrics_of(kAggregator).value("members_lost"), 1) << "the fault did not happen";
  cluster.reactor().run_for(3s);
  EXPECT_EQ(cluster.status()["conv_workers"], 2);
  ASSERT_TRUE(cluster.finish()) << cluster.status().dump();
  EXPECT_EQ(cluster.result()["samples"], 9000);
  EXPECT_GT(cluster.result()["samples_repeated"].get<int>(), 0);
  EXPECT_EQ(cluster.violations(), std::vector<std::string>());
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

TEST(MembershipRules, AWorkerThatHearsOfTheStartBeforeTheDataLoaderDoesIsNotIdle) {
  ClusterOptions options;
  options.job.staleness = 0;
  options.job.samples = 3200;
  Cluster cluster(options);
  sim::Link slow;
  slow.latency = 30ms;
  const ActorId loader = cluster.id(Role::data_loader, 0), other = cluster.id(Role::conv_worker, 0);
  cluster.reactor().at(Instant(500us), [&] {  // all have joined, and the start is about to be told
    for (const ActorId hears_late : {loader, other}) cluster.reactor().network().set_link(kAggregator, hears_late, slow);
  });
  ASSERT_TRUE(cluster.finish()) << cluster.status().dump();
  EXPECT_EQ(cluster.result()["versions"]["fc"], 50) << "both took part in every round of 64 samples";
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

TEST(MembershipRules, R3_ASecondLiveProcessWithTheSameIdIsRefusedAndTheFirstIsNotDisturbed) {
  ClusterOptions options;
  options.job.samples = 4000;
  Cluster cluster(options);
  ASSERT_TRUE(cluster.run_until_samples(300));
  const ActorId first = cluster.id(Role::conv_worker, 0);
  std::vector<std::string> causes;
  cluster.reactor().set_log([&](ActorId, Severity, std::string_view event, const Fields& fields) {
    if (event == "refused") causes.push_back(fields.at(1).second);
  });
  Hello second;  // as another process that drew the same id would say it; its answer reaches the first one here, which must not heed it
  second.incarnation = 424242;
  second.host = "10.0.0.99";
  second.port = 7000;
  ASSERT_TRUE(cluster.reactor().context_of(first).send(kAggregator, second).ok());
  cluster.reactor().run_for(100ms);
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_NE(causes[0].find(to_string(first)), std::string::npos) << causes[0];
  EXPECT_NE(causes[0].find("tcp://10.0.0."), std::string::npos) << "it names the holder's address: " << causes[0];
  EXPECT_EQ(cluster.reactor().metrics_of(first).value("refusals_of_others"), 1);
  ASSERT_TRUE(cluster.finish()) << cluster.status().dump();
  EXPECT_EQ(cluster.result()["samples"], 4000);
  EXPECT_EQ(cluster.result()["samples_repeated"], 0);
}

TEST(MembershipRules, AMemberHeedsNoWelcomeOfAnEarlierLifeAndJoinsTheNextLifeOfWhichItHears) {
  ClusterOptions options;
  options.job.samples = 4000;
  Cluster cluster(options);
  const ActorId member = cluster.id(Role::conv_worker, 0);
  std::optional<Welcome> welcome;
  cluster.reactor().add_tap([&](const sim::Delivery& delivery) {
    if (delivery.to == member && delivery.envelope.type == MessageType::welcome && !welcome) {
      welcome.emplace(*decode<Welcome>(*delivery.envelope.body));
    }
  });
  ASSERT_TRUE(cluster.run_until_samples(300));
  ASSERT_TRUE(welcome);
  std::vector<std::string> events;
  cluster.reactor().set_log([&](ActorId id, Severity, std::string_view event, const Fields&) {
    if (id == member) events.emplace_back(event);
  });
  Context& aggregator = cluster.reactor().context_of(kAggregator);
  ASSERT_EQ(welcome->generation, 1U);
  --welcome->generation;
  welcome->first_clock += 1000;
  ASSERT_TRUE(aggregator.send(member, *welcome).ok());
  cluster.reactor().run_for(100ms);
  EXPECT_EQ(std::count(events.begin(), events.end(), "joined"), 0) << "it comes late";
  ASSERT_TRUE(aggregator.send(member, HeartbeatReply{2}).ok());  // as to one whom the next life took for a member by a late Hello
  cluster.reactor().run_for(1s);
  EXPECT_EQ(std::count(events.begin(), events.end(), "the aggregator no longer knows this process; joining again"), 1);
  EXPECT_EQ(std::count(events.begin(), events.end(), "joined"), 1);
  ASSERT_TRUE(cluster.finish()) << cluster.status().dump();
  EXPECT_EQ(cluster.result()["samples"], 4000);
  EXPECT_EQ(cluster.violations(), std::vector<std::string>());
}

TEST(MembershipRules, AWorkersHeldBackGradientIsCountedWhenItDies) {
  ClusterOptions options;
  options.job.samples = 6000;
  options.job.compress = "topk ratio=0.01";
  options.job.dead_after_seconds = 4;
  Cluster cluster(options);
  ASSERT_TRUE(cluster.run_until_samples(3000));
  cluster.reactor().crash(cluster.id(Role::conv_worker, 0));
  ASSERT_TRUE(cluster.finish()) << cluster.status().dump();
  EXPECT_EQ(cluster.reactor().metrics_of(kAggregator).value("residuals_lost"), 1) << "and those that flushed lost nothing";
  EXPECT_GT(cluster.reactor().metrics_of(kAggregator).value("residual_norm_lost"), 0);
}

}  // namespace
}  // namespace hourglass::testing_cluster
