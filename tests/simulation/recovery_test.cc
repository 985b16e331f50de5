// SPDX-License-Identifier: Apache-2.0
// The aggregator dies and comes back: checkpoints, journal, generations.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "actors/aggregator/checkpoint.h"
#include "actors/aggregator/journal.h"
#include "messages/all_messages.h"
#include "tests/simulation/cluster.h"

namespace hourglass::testing_cluster {
namespace {
using namespace std::chrono_literals;

constexpr std::uint64_t kSamples = 4000;

struct Case {
  const char* name;
  std::int64_t staleness;
  std::uint32_t fc;
  const char* compress = "dense";
  const char* downlink = "dense";
  const char* server = "add";
  std::uint32_t tree = 0;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

ClusterOptions options_of(const Case& c) {
  ClusterOptions out;
  Job& job = out.job;
  job.staleness = c.staleness;
  job.conv_workers = c.tree > 0 ? 4 : 2;
  job.fc_workers = c.fc;
  job.compress = c.compress;
  job.downlink = c.downlink;
  job.server = c.server;
  job.tree_arity = c.tree;
  if (job.server != std::string("add")) {
    job.optimizer = "sgd";
    job.learning_rate = 0.002;
  }
  job.samples = c.fc == 0 ? 2 * kSamples : kSamples;  // without the cut they are quicker
  job.dead_after_seconds = 5;
  out.recovery.checkpoint_every_seconds = 0.5;
  return out;
}

std::uint64_t settled(const nlohmann::json& ledger) {
  std::uint64_t sum = ledger["applied"].get<std::uint64_t>() + ledger["rolled_back"].get<std::uint64_t>();
  for (const auto& [reason, count] : ledger["rejected"].items()) sum += count.get<std::uint64_t>();
  return sum;
}

std::vector<std::uint64_t> checkpoints(Cluster& cluster) {
  std::vector<std::uint64_t> out;
  const auto names = cluster.reactor().storage("aggregator").list(kCheckpointPrefix);
  for (const std::string& name : *names) out.push_back(*checkpoint_number_of(name));
  return out;
}

TEST(Farewell, AnAggregatorThatDiesWhileItSaysGoodbyeIsFollowedByOneThatTellsTheRest) {
  Cluster cluster(options_of({"farewell", 4, 1}));
  const ActorId straggler = cluster.id(Role::conv_worker, 1);
  ASSERT_TRUE(cluster.reactor().run_until([&] { return cluster.status()["phase"] == "evaluating"; }, 5min));
  cluster.reactor().network().block(kAggregator, straggler);  // it does not hear that the run is over
  ASSERT_TRUE(cluster.reactor().run_until([&] { return cluster.status()["phase"] == "finished"; }, 5min));
  cluster.reactor().run_for(1s);
  ASSERT_TRUE(cluster.reactor().live(kAggregator)) << "it still waits for the straggler";
  EXPECT_FALSE(cluster.reactor().live(cluster.id(Role::data_loader, 0))) << "without whom no run could begin";
  const auto result = cluster.result();
  cluster.reactor().crash(kAggregator);
  cluster.reactor().network().heal_all();
  cluster.add(Role::aggregator);
  ASSERT_TRUE(cluster.finish()) << cluster.status().dump();
  for (const ActorId id : {kAggregator, straggler}) {
    ASSERT_NE(cluster.reactor().exit_of(id), nullptr);
    EXPECT_EQ(cluster.reactor().exit_of(id)->code, ExitCode::ok);
  }
  EXPECT_EQ(cluster.reactor().exit_of(kAggregator)->reason, "finished; the run was saved before");
  EXPECT_EQ(cluster.result(), result) << "what was saved stays";
  EXPECT_EQ(result["status"], "finished");
  EXPECT_EQ(result["samples"], kSamples);
}

class Restart : public testing::TestWithParam<Case> {};

TEST_P(Restart, R14_TheRunGoesOnFromTheNewestCheckpointAndTheBooksBalance) {
  Cluster cluster(options_of(GetParam()));
  ASSERT_TRUE(cluster.reactor().run_until([&] { return !checkpoints(cluster).empty(); }, 1min));
  cluster.reactor().run_for(300ms);
  cluster.reactor().crash(kAggregator);
  cluster.reactor().run_for(2s);
  cluster.add(Role::aggregator);
  ASSERT_TRUE(cluster.finish()) << cluster.status().dump();
  EXPECT_EQ(cluster.violations(), std::vector<std::string>());
  const auto result = cluster.result();
  EXPECT_EQ(result["status"], "finished");
  EXPECT_EQ(result["generation"], 2);
  EXPECT_EQ(result["samples"], options_of(GetParam()).job.samples);
  EXPECT_EQ(result["ledger"]["received"], settled(result["ledger"])) << result["ledger"].dump();
  EXPECT_GT(result["ledger"]["rolled_back"].get<int>(), 0) << "the crash came between two checkpoints";
  EXPECT_GT(result["samples_repeated"].get<int>(), 0);
  EXPECT_LT(result["samples_repeated"].get<std::uint64_t>(), options_of(GetParam()).job.samples / 2) << "not everything was done again";
  EXPECT_GT(result["accuracy"].get<double>(), 0.7);
  const auto& reactor = cluster.reactor();
  for (const Role role : {Role::conv_worker, Role::fc_worker, Role::data_loader}) {
    if (role == Role::fc_worker && GetParam().fc == 0) continue;
    const ActorId id = cluster.id(role, 0);
    ASSERT_NE(reactor.exit_of(id), nullptr) << "it has lived through it";
    EXPECT_EQ(reactor.exit_of(id)->code, ExitCode::ok);
  }
}

TEST_P(Restart, R4_WithoutAnyCheckpointTheRunBeginsAnewAndOldPushesAreVoid) {
  ClusterOptions options = options_of(GetParam());
  options.recovery.checkpoint_every_seconds = 3600;
  Cluster cluster(options);
  ASSERT_TRUE(cluster.run_until_samples(800));
  ASSERT_TRUE(checkpoints(cluster).empty());
  cluster.reactor().crash(kAggregator);
  cluster.reactor().run_for(1s);
  cluster.add(Role::aggregator);
  ASSERT_TRUE(cluster.finish()) << cluster.status().dump();
  EXPECT_EQ(cluster.violations(), std::vector<std::string>());
  const auto result = cluster.result();
  EXPECT_EQ(result["samples"], options.job.samples);
  EXPECT_EQ(result["generation"], 2);
  EXPECT_EQ(result["ledger"]["received"], settled(result["ledger"]));
  EXPECT_GT(result["ledger"]["rolled_back"].get<int>(), 10);
  EXPECT_GE(result["samples_repeated"].get<int>(), 800);
  EXPECT_GT(result["accuracy"].get<double>(), 0.7);
}

TEST_P(Restart, R15_AgainAndAgain) {
  ClusterOptions options = options_of(GetParam());
  options.job.samples = 6000;
  Cluster cluster(options);
  for (int life = 1; life <= 4; ++life) {
    const auto far_enough = [&] {
      const auto status = cluster.status();
      return status.is_object() && status["generation"] == life && status["samples_done"].get<int>() >= 1000 * life;
    };
    for (int i = 0; i < 3000 && !far_enough(); ++i) cluster.reactor().run_for(100ms);
    ASSERT_TRUE(far_enough()) << cluster.status().dump();
    ASSERT_TRUE(cluster.reactor().live(kAggregator));
    cluster.reactor().crash(kAggregator);
    cluster.reactor().run_for(life == 2 ? 8s : 100ms);  // longer and shorter than dead_after
    cluster.add(Role::aggregator);
  }
  ASSERT_TRUE(cluster.finish()) << cluster.status().dump();
  const auto result = cluster.result();
  EXPECT_EQ(cluster.violations(), std::vector<std::string>());
  EXPECT_EQ(result["generation"], 5);
  EXPECT_EQ(result["samples"], 6000);
  EXPECT_EQ(result["ledger"]["received"], settled(result["ledger"]));
}

/// A push's decision is in the journal before its sender hears of it.
TEST_P(Restart, TheJournalIsAheadOfEveryAnswer) {
  Cluster cluster(options_of(GetParam()));
  std::set<std::tuple<ActorId, std::uint64_t, Verdict>> journal;
  std::uint64_t looked_at = 0, missing = 0;
  auto& storage = cluster.reactor().storage("aggregator");
  cluster.reactor().add_tap([&](const sim::Delivery& delivery) {
    if (delivery.envelope.type != MessageType::push_verdict || delivery.envelope.from != kAggregator) return;
    const auto read = Journal::read(storage, 0);
    for (const JournalEntry& entry : read->entries) journal.insert({entry.from, entry.clock, entry.verdict});
    const auto verdict = decode<PushVerdict>(*delivery.envelope.body);
    ++looked_at;
    missing += journal.contains({delivery.to, verdict->clock, verdict->verdict}) ? 0 : 1;
  });
  ASSERT_TRUE(cluster.run_until_samples(2000));
  EXPECT_GT(looked_at, 20U);
  EXPECT_EQ(missing, 0U);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Restart,
                         testing::Values(Case{"synchronous", 0, 1}, Case{"bounded", 4, 1}, Case{"unlimited", kUnlimited, 1},
                                         Case{"two_fc", 4, 2}, Case{"whole", 4, 0},
                                         Case{"compressed", 4, 1, "topk ratio=0.05 | two_level | rice", "topk ratio=0.1"},
                                         Case{"compressed_whole_synchronous", 0, 0, "topk ratio=0.05", "topk ratio=0.1"},
                                         Case{"server_rule", 0, 0, "dense", "dense", "amsgrad"},
                                         Case{"tree", 4, 0, "topk ratio=0.05", "topk ratio=0.1", "add", 2}),
                         [](const auto& row) { return std::string(row.param.name); });

std::string newest_file(Cluster& cluster) { return checkpoint_file_name(checkpoints(cluster).back()); }

TEST(Recovery, K1_ADamagedNewestCheckpointIsPassedOverWithAWarningThatNamesIt) {
  for (const double part : {0.0, 0.5, 0.99, 1.0}) {
    Cluster cluster(options_of({"", 4, 1}));
    ASSERT_TRUE(cluster.run_until_samples(2500));
    ASSERT_GE(checkpoints(cluster).size(), 2U);
    cluster.reactor().crash(kAggregator);
    const std::string broken = newest_file(cluster);
    Bytes& file = cluster.reactor().storage("aggregator").files().at(broken);
    if (part < 1) file.resize(static_cast<std::size_t>(part * static_cast<double>(file.size())));
    if (part == 1) file[file.size() / 3] ^= std::byte{8};
    std::string warned;
    cluster.reactor().set_log([&](ActorId, Severity severity, std::string_view event, const Fields& fields) {
      if (severity == Severity::warning && event == "a checkpoint cannot be used; an earlier one is") warned = fields.at(0).second;
    });
    cluster.add(Role::aggregator);
    ASSERT_TRUE(cluster.finish()) << cluster.status().dump();
    EXPECT_EQ(warned, broken);
    EXPECT_EQ(cluster.result()["samples"], kSamples);
    EXPECT_EQ(cluster.result()["ledger"]["received"], settled(cluster.result()["ledger"]));
    EXPECT_EQ(cluster.violations(), std::vector<std::string>());
  }
}

TEST(Recovery, K2_AFullDiskKeepsTrainingAndRaisesAnAlarmUntilThereIsRoom) {
  ClusterOptions options = options_of({"", 4, 1});
  options.job.samples = 16000;
  Cluster cluster(options);
  ASSERT_TRUE(cluster.run_until_samples(1500));
  auto& storage = cluster.reactor().storage("aggregator");
  std::string alarm;
  cluster.reactor().add_tap([&](const sim::Delivery& delivery) {
    if (delivery.envelope.type == MessageType::run_status) alarm = decode<RunStatus>(*delivery.envelope.body)->alarm;
  });
  const std::uint64_t before = checkpoints(cluster).back();
  storage.set_full(true);
  cluster.reactor().run_for(3s);
  EXPECT_GT(storage.refused(), 0U);
  EXPECT_EQ(checkpoints(cluster).back(), before);
  EXPECT_NE(alarm.find("no space left"), std::string::npos) << alarm;
  EXPECT_GT(cluster.reactor().metrics_of(kAggregator).value("checkpoint_failures"), 0);
  ASSERT_TRUE(cluster.run_until_samples(6000)) << "training goes on";
  storage.set_full(false);
  ASSERT_TRUE(cluster.reactor().run_until([&] { return checkpoints(cluster).back() > before && alarm.empty(); }, 30s)) << alarm;
  ASSERT_TRUE(cluster.finish());
  EXPECT_EQ(cluster.result()["samples"], 16000);
}

TEST(Recovery, R14_AReplacedFcWorkerGoesOnFromTheLastCheckpointOptimizerIncluded) {
  ClusterOptions options = options_of({"", 4, 1});
  Cluster cluster(options);
  ASSERT_TRUE(cluster.run_until_samples(2000));
  const auto file = cluster.reactor().storage("aggregator").read(newest_file(cluster));
  const auto kept = decode_checkpoint(*file);
  ASSERT_TRUE(kept.ok());
  ASSERT_GT(kept->meta.fc_version, 20U);
  ASSERT_TRUE(kept->worker_states.contains({Role::fc_worker, 0}));
  std::string optimizer;
  cluster.reactor().set_log([&](ActorId id, Severity, std::string_view event, const Fields& fields) {
    if (id.role == Role::fc_worker && event == "went on from an earlier process's state") optimizer = fields.at(0).second;
  });
  cluster.reactor().crash(cluster.id(Role::fc_worker, 0));
  const ActorId heir = cluster.add(Role::fc_worker);
  ASSERT_TRUE(cluster.finish()) << cluster.status().dump();
  EXPECT_EQ(optimizer, "kept");
  EXPECT_GT(cluster.reactor().metrics_of(heir).value("version"), static_cast<double>(kept->meta.fc_version));
  EXPECT_EQ(cluster.violations(), std::vector<std::string>());
  EXPECT_EQ(cluster.result()["samples"], kSamples);
}

/// Stops a run, and gives its disk to a new cluster.
std::unique_ptr<Cluster> stop_and_resume(const ClusterOptions& options, std::uint64_t samples, const ClusterOptions& next) {
  Cluster first(options);
  EXPECT_TRUE(first.run_until_samples(samples));
  EXPECT_TRUE(first.reactor().live(kAggregator));
  first.reactor().terminate(kAggregator);
  EXPECT_TRUE(first.finish(10s)) << first.status().dump();
  EXPECT_EQ(first.result()["status"], "stopped");
  EXPECT_GE(first.result()["samples"].get<std::uint64_t>(), samples);
  const auto disk = first.reactor().storage("aggregator").files();
  auto second = std::make_unique<Cluster>(next);
  second->reactor().storage("aggregator").files() = disk;     // before its first event
  for (const ActorId id : second->reactor().live_actors()) {  // no process has the id of one that is gone
    if (id.role == Role::aggregator) continue;
    second->reactor().crash(id);
    second->add(id.role);
  }
  return second;
}

class StopAndResume : public testing::TestWithParam<Case> {};

TEST_P(StopAndResume, C15_I11_InSynchronousModeTheParametersAreThoseOfTheUninterruptedRunBitForBit) {
  ClusterOptions options = options_of(GetParam());
  options.job.conv_workers = 1;
  options.job.outstanding = 1;
  options.job.samples = 3200;
  options.job.evaluate_every = 1000;
  Cluster whole(options);
  ASSERT_TRUE(whole.finish());
  ClusterOptions next = options;
  next.seed = options.seed + 7;  // other random numbers, other ids
  const auto resumed = stop_and_resume(options, 1500, next);
  ASSERT_TRUE(resumed->finish()) << resumed->status().dump();
  const auto result = resumed->result();
  EXPECT_EQ(result["generation"], 2);
  EXPECT_EQ(result["samples"], 3200);
  EXPECT_EQ(result["samples_repeated"], 0);
  EXPECT_EQ(result["ledger"]["rolled_back"], 0);
  EXPECT_EQ(result["ledger"], whole.result()["ledger"]);
  EXPECT_EQ(resumed->parameters(), whole.parameters());
  EXPECT_EQ(result["history"].size(), whole.result()["history"].size());
  EXPECT_EQ(result["accuracy"], whole.result()["accuracy"]);
}

INSTANTIATE_TEST_SUITE_P(Kinds, StopAndResume,
                         testing::Values(Case{"one_fc", 0, 1}, Case{"whole", 0, 0},
                                         Case{"compressed", 0, 1, "topk ratio=0.05", "topk ratio=0.1"},
                                         Case{"two_level", 0, 0, "topk ratio=0.05 | two_level | rice", "dense"},
                                         Case{"amsgrad", 0, 1, "topk ratio=0.1", "dense", "amsgrad"}),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(Recovery, K4_ResumeWithAnotherNumberOfWorkers) {
  for (const std::uint32_t workers : {1U, 4U}) {
    const ClusterOptions options = options_of({"", 4, 1});
    ClusterOptions next = options;
    next.job.conv_workers = workers;
    const auto resumed = stop_and_resume(options, 1500, next);
    ASSERT_TRUE(resumed->finish()) << resumed->status().dump();
    const auto result = resumed->result();
    EXPECT_EQ(result["samples"], kSamples);
    EXPECT_EQ(result["samples_repeated"], 0) << "a stop lets what is under way end";
    EXPECT_EQ(result["conv_workers"], workers);
    EXPECT_EQ(result["ledger"]["received"], settled(result["ledger"]));
    EXPECT_GT(result["accuracy"].get<double>(), 0.7);
    EXPECT_EQ(resumed->violations(), std::vector<std::string>());
  }
}

TEST(Recovery, K7_ScheduleEpochAndHistoryGoOn) {
  ClusterOptions options = options_of({"", 4, 1});
  options.job.samples = 0;
  options.job.epochs = 2;
  options.job.schedule = "step at=0.5 by=0.1";
  options.job.evaluate_every = 1000;
  const auto resumed = stop_and_resume(options, 5000, options);
  double least = 1;
  std::uint32_t epoch = 99;
  resumed->reactor().add_tap([&](const sim::Delivery& delivery) {
    if (delivery.envelope.type != MessageType::batch) return;
    const auto batch = decode<Batch>(*delivery.envelope.body);
    if (batch->mode != Mode::train) return;
    least = std::min(least, batch->progress);
    epoch = std::min(epoch, batch->epoch);
  });
  ASSERT_TRUE(resumed->finish()) << resumed->status().dump();
  const auto total = static_cast<double>(resumed->result()["samples"].get<std::uint64_t>());
  EXPECT_GT(least, 4900 / total) << "progress, and with it the learning rate, begins where it stood";
  const auto history = resumed->result()["history"];
  EXPECT_NEAR(static_cast<double>(history.size()), total / 1000, 2) << history.dump();
  for (std::size_t i = 1; i < history.size(); ++i) {
    EXPECT_GT(history[i]["samples"], history[i - 1]["samples"]);
    EXPECT_GE(history[i]["seconds"], history[i - 1]["seconds"]);
    EXPECT_GE(history[i]["bytes"], history[i - 1]["bytes"]);
  }
}

TEST(Recovery, AFinishedRunsFolderIsANewRunsAndAnotherModelsIsRefused) {
  const ClusterOptions options = options_of({"", 4, 0});
  Cluster first(options);
  ASSERT_TRUE(first.finish());
  Cluster again(options);
  again.reactor().storage("aggregator").files() = first.reactor().storage("aggregator").files();
  ASSERT_TRUE(again.finish());
  EXPECT_EQ(again.result()["generation"], 1);
  EXPECT_EQ(again.result()["samples"], options.job.samples);

  ClusterOptions other = options;
  other.job.model = "conv 8 kernel=5 stride=2 | relu | pool 2 | flatten | fc";
  Cluster unfinished(options);
  ASSERT_TRUE(unfinished.reactor().run_until([&] { return !checkpoints(unfinished).empty(); }, 1min));
  Cluster wrong(other);
  wrong.reactor().storage("aggregator").files() = unfinished.reactor().storage("aggregator").files();
  wrong.reactor().run_for(1s);
  ASSERT_NE(wrong.reactor().exit_of(kAggregator), nullptr);
  EXPECT_EQ(wrong.reactor().exit_of(kAggregator)->code, ExitCode::config);
  EXPECT_NE(wrong.reactor().exit_of(kAggregator)->reason.find("another run folder"), std::string::npos);

  ClusterOptions fresh = other;
  fresh.recovery.recover = false;
  Cluster begun(fresh);
  begun.reactor().storage("aggregator").files() = unfinished.reactor().storage("aggregator").files();
  ASSERT_TRUE(begun.finish());
  EXPECT_EQ(begun.result()["samples"], options.job.samples);
  EXPECT_EQ(begun.result()["samples_repeated"], 0);
}

TEST(Recovery, OnlyTheNewestAndTheBestCheckpointsStay) {
  ClusterOptions options = options_of({"", 4, 1});
  options.job.samples = 8000;
  options.job.evaluate_every = 1000;
  options.recovery.keep = 2;
  Cluster cluster(options);
  ASSERT_TRUE(cluster.finish());
  EXPECT_GT(cluster.reactor().metrics_of(kAggregator).value("checkpoints"), 6);
  EXPECT_LE(checkpoints(cluster).size(), 3U);
  EXPECT_GE(checkpoints(cluster).size(), 2U);
  EXPECT_LE(cluster.reactor().storage("aggregator").list(Journal::kPrefix)->size(), 3U);
}

}  // namespace
}  // namespace hourglass::testing_cluster
