// SPDX-License-Identifier: Apache-2.0
// Whole runs in the simulator: every layout and staleness, compressed and not, ends with a saved model that has learned, and balanced
// books.
#include <gtest/gtest.h>

#include "messages/all_messages.h"
#include "tests/simulation/cluster.h"

namespace hourglass::testing_cluster {
namespace {
using namespace std::chrono_literals;

struct Scenario {
  const char* name;
  std::uint32_t conv, fc;
  std::int64_t staleness;
  std::uint32_t local_steps;
  const char* compress;
  const char* downlink;
  const char* boundary;
  const char* gradients = "same";
  const char* optimizer = "sgd momentum=0.9";
  const char* server = "add";
  double learning_rate = 0.05;
};

void PrintTo(const Scenario& scenario, std::ostream* out) { *out << scenario.name; }

class Training : public testing::TestWithParam<Scenario> {};

void expect_balanced(const nlohmann::json& result, std::uint64_t samples) {
  const auto& ledger = result["ledger"];
  std::uint64_t rejected = 0;
  for (const auto& [reason, count] : ledger["rejected"].items()) rejected += count.get<std::uint64_t>();
  EXPECT_EQ(ledger["received"].get<std::uint64_t>(),
            ledger["applied"].get<std::uint64_t>() + rejected + ledger["rolled_back"].get<std::uint64_t>());
  EXPECT_EQ(result["samples"], samples);
}

TEST_P(Training, LearnsAndBalances) {
  const Scenario& scenario = GetParam();
  ClusterOptions options;
  options.job.conv_workers = scenario.conv;
  options.job.fc_workers = scenario.fc;
  options.job.staleness = scenario.staleness;
  options.job.local_steps = scenario.local_steps;
  options.job.compress = scenario.compress;
  options.job.downlink = scenario.downlink;
  options.job.boundary = scenario.boundary;
  options.job.boundary_gradients = scenario.gradients;
  options.job.optimizer = scenario.optimizer;
  options.job.server = scenario.server;
  options.job.learning_rate = scenario.learning_rate;
  options.job.samples = 6000;
  Cluster cluster(options);
  ASSERT_TRUE(cluster.finish()) << cluster.status().dump();
  EXPECT_EQ(cluster.violations(), std::vector<std::string>());
  const auto result = cluster.result();
  EXPECT_EQ(result["status"], "finished");
  EXPECT_GT(result["accuracy"].get<double>(), 0.8) << result.dump();
  expect_balanced(result, 6000);
  EXPECT_EQ(result["replicas"]["compared"], scenario.conv + (scenario.fc > 1 ? scenario.fc : 0));
  EXPECT_EQ(result["replicas"]["differing"], 0);
  if (scenario.staleness >= 0) {
    const std::uint64_t slack = static_cast<std::uint64_t>(scenario.staleness);
    const std::uint64_t workers = std::max(scenario.conv, scenario.fc);
    EXPECT_LE(result["staleness"]["max"].get<std::uint64_t>(), (2 * slack + 1) * (workers - 1));
  }
  for (const char* reason : {"stale", "nonfinite", "shape", "version"}) EXPECT_EQ(result["ledger"]["rejected"][reason], 0) << reason;
  for (std::size_t i = 0; i < scenario.conv; ++i) {  // the Hourglass property, by every CONV worker's own counters
    const Metrics& metrics = cluster.reactor().metrics_of(cluster.id(Role::conv_worker, i));
    EXPECT_GT(metrics.value("sent.push_conv.socket") + metrics.value("sent.activations.socket"), 0);
    for (const char* way : {"sent.", "received."}) {
      for (const char* kind : {"push_fc.payload", "push_fc.socket", "update_fc.payload", "update_fc.socket"}) {
        EXPECT_EQ(metrics.value(std::string(way) + kind), 0) << way << kind;
      }
    }
  }
  for (const ActorId id : cluster.reactor().live_actors()) ADD_FAILURE() << to_string(id) << " did not leave";
  for (const Role role : {Role::conv_worker, Role::fc_worker, Role::data_loader, Role::monitor}) {
    if (role == Role::fc_worker && scenario.fc == 0) continue;
    const sim::Exit* exit = cluster.reactor().exit_of(cluster.id(role, 0));
    ASSERT_NE(exit, nullptr);
    EXPECT_EQ(exit->code, ExitCode::ok) << exit->reason;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, Training,
    testing::Values(
        Scenario{"synchronous", 2, 1, 0, 1, "dense", "dense", "f32"}, Scenario{"bounded", 2, 1, 4, 1, "dense", "dense", "f32"},
        Scenario{"unlimited", 3, 1, kUnlimited, 1, "dense", "dense", "f32"}, Scenario{"local_steps", 2, 1, 2, 4, "dense", "dense", "f32"},
        Scenario{"synchronous_local_steps", 3, 1, 0, 3, "dense", "dense", "f32"},
        Scenario{"compressed", 2, 1, 4, 1, "topk ratio=0.05 | two_level | rice", "topk ratio=0.05 | two_level | rice", "u8"},
        Scenario{"bf16", 2, 1, 4, 1, "dense | bf16", "dense | bf16", "bf16"}, Scenario{"whole_model", 2, 0, 4, 1, "dense", "dense", "f32"},
        Scenario{"whole_model_synchronous", 3, 0, 0, 2, "topk ratio=0.05", "dense", "f32"},
        Scenario{"two_fc", 4, 2, 4, 1, "dense", "dense", "f32"}, Scenario{"two_fc_synchronous", 4, 2, 0, 1, "dense", "dense", "f32"},
        Scenario{"four_conv_three_fc", 4, 3, 1, 1, "dense", "dense", "f32"},
        Scenario{"four_conv_three_fc_synchronous", 4, 3, 0, 1, "dense", "dense", "f32"},
        Scenario{"five_conv_two_fc_local_steps", 5, 2, 3, 2, "dense", "dense", "f32"},
        Scenario{"three_fc_compressed", 3, 3, 2, 2, "topk ratio=0.1 | two_level", "topk ratio=0.1 | two_level", "bf16"},
        Scenario{"aggregation_aware", 4, 0, 0, 1, "aggregation_aware ratio=0.05 | two_level", "nonzero", "f32"},
        Scenario{"aggregation_aware_bounded", 3, 0, 2, 1, "aggregation_aware ratio=0.05 metric=consensus", "nonzero", "f32"},
        Scenario{"cyclic", 4, 0, 0, 1, "clt_k ratio=0.1 | two_level", "nonzero", "f32"},
        Scenario{"sparse_boundary", 2, 1, 4, 1, "dense", "dense", "zeros | u6", "sampled ratio=0.3 | u8"},
        Scenario{"topk_boundary", 2, 1, 0, 1, "dense", "dense", "zeros | bf16", "topk ratio=0.2 | u6"},
        Scenario{"local_adam", 2, 1, 4, 2, "topk ratio=0.05", "dense", "f32", "same", "adam", "add", 0.002},
        Scenario{"comp_ams", 3, 1, 0, 1, "topk ratio=0.05 | two_level | rice", "dense", "f32", "same", "sgd", "amsgrad", 0.002},
        Scenario{"comp_ams_asynchronous", 3, 1, 4, 2, "topk ratio=0.1", "topk ratio=0.1 | bf16", "f32", "same", "sgd", "amsgrad", 0.002},
        Scenario{"comp_ams_two_fc", 4, 2, 0, 1, "topk ratio=0.1", "dense", "f32", "same", "sgd", "amsgrad", 0.002},
        Scenario{"server_momentum", 2, 0, 0, 1, "topk ratio=0.1", "dense", "f32", "same", "sgd", "sgd momentum=0.9", 0.05},
        Scenario{"one_bit_adam", 2, 0, 0, 1, "topk ratio=0.1 | two_level", "dense", "f32", "same", "sgd", "one_bit_adam warmup=20", 0.002},
        Scenario{"one_bit_adam_asynchronous", 3, 1, 4, 1, "topk ratio=0.1 | two_level", "topk ratio=0.1", "f32", "same", "sgd",
                 "one_bit_adam warmup=40", 0.002}),
    [](const auto& row) { return std::string(row.param.name); });

/// What is left out of lossless boundary tensors, gradients included, makes no difference to the last bit.
TEST(Simulation, ZerosLeftOutAtTheCutChangeNothing) {
  const auto run = [](const char* boundary) {
    ClusterOptions options;
    options.job.boundary = boundary;
    options.job.staleness = 0;
    Cluster cluster(options);
    EXPECT_TRUE(cluster.finish());
    const Metrics& fc = cluster.reactor().metrics_of(cluster.id(Role::fc_worker, 0));
    return std::tuple(cluster.parameters(), fc.value("received.activations.payload"), fc.value("sent.activation_gradients.payload"));
  };
  const auto [whole, activations, gradients] = run("f32");
  const auto [sparse, fewer_activations, fewer_gradients] = run("zeros");
  EXPECT_EQ(whole, sparse);
  EXPECT_LT(fewer_activations, 0.9 * activations);
  EXPECT_LT(fewer_gradients, 0.9 * gradients) << "the FC worker knows which activations are 0";
}

TEST(Simulation, OneBitAdamCompressesFromTheFreezeOn) {
  const auto pushed = [](const char* server) {
    ClusterOptions options;
    options.job.optimizer = "sgd";
    options.job.learning_rate = 0.002;
    options.job.staleness = 0;
    options.job.server = server;
    options.job.compress = "topk ratio=0.01 | two_level | rice";
    options.job.fc_workers = 0;
    options.job.samples = 6400;  // 100 steps
    Cluster cluster(options);
    EXPECT_TRUE(cluster.finish());
    return cluster.reactor().metrics_of(cluster.id(Role::conv_worker, 0)).value("sent.push_conv.payload");
  };
  const double never = pushed("one_bit_adam warmup=100000");
  const double soon = pushed("one_bit_adam warmup=25");
  EXPECT_LT(soon, 0.30 * never) << "a quarter of the steps whole, the rest a hundredth or so";
  EXPECT_GT(soon, 0.25 * never);
}

TEST(Simulation, SameSeedSameRun) {
  const auto trace = [](std::uint64_t seed) {
    ClusterOptions options;
    options.seed = seed;
    options.network.link.jitter = 2ms;
    options.job.samples = 640;
    Cluster cluster(options);
    EXPECT_TRUE(cluster.finish());
    return std::pair(cluster.reactor().trace_hash(), cluster.result()["accuracy"].get<double>());
  };
  const auto first = trace(5);
  EXPECT_EQ(first, trace(5));
  EXPECT_NE(first.first, trace(6).first);
}

/// The checkers of this fixture see what they are there for.
TEST(Simulation, CheckersComplainOfPlantedFaults) {
  ClusterOptions options;
  Cluster cluster(options);
  ASSERT_TRUE(cluster.run_until_samples(320));
  EXPECT_EQ(cluster.violations(), std::vector<std::string>());
  Context& aggregator = cluster.reactor().context_of(kAggregator);
  const ActorId worker = cluster.id(Role::conv_worker, 0);
  ASSERT_TRUE(aggregator.send(worker, PushVerdict{1, Group::conv, 0, Verdict::stale}).ok());  // was applied
  ParameterUpdate fc;
  fc.generation = 1;
  fc.group = Group::fc;
  ASSERT_TRUE(aggregator.send(worker, fc).ok());
  ParameterUpdate old;
  old.generation = 1;
  old.deltas = {VersionDelta{0, {}, {}}};
  ASSERT_TRUE(aggregator.send(worker, old).ok());
  cluster.reactor().run_for(1s);
  std::string all;
  for (const std::string& violation : cluster.violations()) all += violation + "\n";
  EXPECT_NE(all.find("two verdicts on one push"), std::string::npos) << all;
  EXPECT_NE(all.find("FC bytes on a CONV worker's link"), std::string::npos) << all;
  EXPECT_NE(all.find("versions go backwards"), std::string::npos) << all;
}

/// The books end exact also where single messages vanish or come twice.
TEST(Simulation, LossAndDuplicationAreRepaired) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    ClusterOptions options;
    options.seed = seed;
    options.network.link.loss = seed % 4 == 0 ? 0.15 : 0.05;
    options.network.link.duplication = 0.05;
    options.network.link.jitter = 1ms;
    options.job.staleness = seed % 2 == 0 ? 0 : 3;
    options.job.fc_workers = seed % 3 == 0 ? 2 : 1;
    options.job.samples = 960;
    options.job.compress = "topk ratio=0.05 | two_level | rice";
    options.job.downlink = seed % 2 == 0 ? "topk ratio=0.05" : "dense";
    Cluster cluster(options);
    ASSERT_TRUE(cluster.finish()) << "seed " << seed << " " << cluster.status().dump();
    EXPECT_EQ(cluster.violations(), std::vector<std::string>()) << "seed " << seed;
    expect_balanced(cluster.result(), 960);
  }
}

TEST(Publication, OncePerRoundCostsAFractionAndKeepsTheBound) {
  double update_bytes[2] = {0, 0};
  for (const std::uint32_t every : {0U, 1U}) {
    ClusterOptions options;
    options.job.conv_workers = 4;
    options.job.fc_workers = 0;
    options.job.staleness = 1;
    options.job.compress = options.job.downlink = "topk ratio=0.05 | two_level | rice";
    options.job.publish_every = every;
    options.job.samples = 12000;
    Cluster cluster(options);
    ASSERT_TRUE(cluster.finish()) << cluster.status().dump();
    const auto result = cluster.result();
    EXPECT_GT(result["accuracy"].get<double>(), 0.8) << result.dump();
    EXPECT_LE(result["staleness"]["max"].get<std::uint64_t>(), 9U);  // (2s+1)(P-1): what a reader is promised it reads
    EXPECT_EQ(result["ledger"]["rejected"]["stale"], 0);
    update_bytes[every] = result["bytes"]["update_conv"]["payload"];
  }
  EXPECT_LT(2 * update_bytes[0], update_bytes[1]);
}

TEST(LocalData, TrainsTheSameModelWithoutSendingSamples) {
  std::vector<std::vector<float>> models;
  std::vector<double> batch_bytes;
  for (const bool local : {false, true}) {
    ClusterOptions options;
    options.job.staleness = 0;
    options.job.outstanding = 1;
    options.job.local_data = local;
    Cluster cluster(options);
    ASSERT_TRUE(cluster.finish());
    EXPECT_EQ(cluster.violations(), std::vector<std::string>());
    EXPECT_GT(cluster.result()["accuracy"], 0.9);
    models.push_back(cluster.parameters());
    batch_bytes.push_back(cluster.result()["bytes"]["batch"]["payload"].get<double>());
  }
  EXPECT_EQ(models[0], models[1]);
  EXPECT_LT(50 * batch_bytes[1], batch_bytes[0]);
}

TEST(Divergence, RaisesAnAlarmThatSaysWhatToDo) {
  for (const std::uint32_t fc : {0U, 1U}) {
    ClusterOptions options;
    options.job.fc_workers = fc;
    options.job.learning_rate = 100;
    options.job.samples = 4000;
    options.job.evaluate_every = 1000;
    Cluster cluster(options);
    ASSERT_TRUE(cluster.finish());
    EXPECT_NE(cluster.status()["alarm"].get<std::string>().find("diverged"), std::string::npos) << cluster.status().dump();
  }
  Cluster healthy((ClusterOptions()));
  ASSERT_TRUE(healthy.finish());
  EXPECT_EQ(healthy.status()["alarm"], "");
}

}  // namespace
}  // namespace hourglass::testing_cluster
