// SPDX-License-Identifier: Apache-2.0
// Whole runs of real processes on loopback.
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "services/hosting/text_file.h"
#include "tests/integration/program.h"

namespace hourglass::integration {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

Words train_words(const std::string& run, const Words& more) {
  Words words = {"train", "--dataset", "synthetic", "--model", "lenet5",          "--batch",
                 "32",    "--run-dir", run,         "--json",  "--start-timeout", "60"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

json object_of(const Program& program) {
  const std::string text = program.output();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
  json object = json::parse(text, nullptr, false);
  EXPECT_TRUE(object.is_object()) << text << program.errors();
  return object;
}

json status_of(const std::string& run) {
  const auto text = read_text(run + "/status.json");
  return text ? json::parse(*text, nullptr, false) : json();
}

bool has_trained(const std::string& run, std::uint64_t samples) {
  const json status = status_of(run);
  return status.is_object() && status.value("samples_done", std::uint64_t{0}) >= samples;
}

TEST(Train, AWholeRunEndsWithOneObjectAndAModelThatEvaluatesTheSame) {
  const std::string folder = fresh_folder("train");
  Program program(HOURGLASS_PROGRAM, train_words(folder + "/run", {"--samples", "6400", "--no-dashboard"}), folder);
  ASSERT_EQ(program.wait(), 0) << program.errors();
  const json result = object_of(program);
  for (const char* key : {"run", "status", "seconds", "epochs", "samples", "samples_per_s", "accuracy", "loss", "history", "conv_workers",
                          "fc_workers", "versions", "staleness", "ledger", "replicas", "bytes", "cpu_seconds", "model"}) {
    EXPECT_TRUE(result.contains(key)) << key;
  }
  EXPECT_EQ(result["status"], "finished");
  EXPECT_EQ(result["samples"], 6400);
  EXPECT_GT(result["accuracy"].get<double>(), 0.5);
  EXPECT_EQ(result["model"], folder + "/run/model.safetensors");
  EXPECT_TRUE(children(program.id()).empty());

  Program evaluate(HOURGLASS_PROGRAM, {"evaluate", "--from", folder + "/run", "--json"}, fresh_folder("evaluate"));
  ASSERT_EQ(evaluate.wait(), 0) << evaluate.errors();
  const json score = object_of(evaluate);
  EXPECT_EQ(score["model_name"], "lenet5");
  EXPECT_NEAR(score["accuracy"].get<double>(), result["accuracy"].get<double>(), 0.002);
  EXPECT_NEAR(score["loss"].get<double>(), result["loss"].get<double>(), 1e-3);

  Program again(HOURGLASS_PROGRAM, train_words(folder + "/run", {"--samples", "100", "--no-dashboard"}), fresh_folder("again"));
  EXPECT_EQ(again.wait(), 78);
  EXPECT_EQ(object_of(again)["status"], "failed");
  EXPECT_NE(again.errors().find("holds another run"), std::string::npos) << again.errors();
}

TEST(Train, WithoutFcWorkersTheWholeModelTrainsOnConvWorkers) {
  const std::string folder = fresh_folder("whole");
  Program program(HOURGLASS_PROGRAM, train_words(folder + "/run", {"--samples", "3200", "--fc-workers", "0", "--no-dashboard"}), folder);
  ASSERT_EQ(program.wait(), 0) << program.errors();
  EXPECT_EQ(object_of(program)["fc_workers"], 0);
}

TEST(Train, ATreeOfNodesTrainsAndAKilledNodeIsReplaced) {
  const std::string folder = fresh_folder("tree");
  const Words more = {"--samples",  "20000",          "--conv-workers",       "4",          "--fc-workers",
                      "0",          "--set",          "cluster.tree_arity=2", "--compress", "topk ratio=0.05",
                      "--downlink", "topk ratio=0.1", "--dead-after",         "3",          "--no-dashboard"};
  Program program(HOURGLASS_PROGRAM, train_words(folder + "/run", more), folder);
  ASSERT_TRUE(eventually([&] { return has_trained(folder + "/run", 1000); })) << program.errors();
  const auto nodes = children(program.id(), "tree-node");
  ASSERT_EQ(nodes.size(), 2U);
  ASSERT_EQ(kill(nodes[0], SIGKILL), 0);
  EXPECT_EQ(program.wait(300), 0) << program.errors();
  EXPECT_NE(program.errors().find("tree-node-"), std::string::npos) << program.errors();
  const json result = object_of(program);
  EXPECT_EQ(result["status"], "finished");
  EXPECT_EQ(result["samples"], 20000);
  EXPECT_GT(result["accuracy"].get<double>(), 0.5);
  EXPECT_TRUE(children(program.id()).empty());
}

TEST(Train, AKilledWorkerIsReplacedAndTheRunEnds) {
  const std::string folder = fresh_folder("killed");
  Program program(HOURGLASS_PROGRAM, train_words(folder + "/run", {"--samples", "40000", "--no-dashboard"}), folder);
  ASSERT_TRUE(eventually([&] { return has_trained(folder + "/run", 1000); })) << program.errors();
  const auto before = children(program.id(), "conv-worker");
  ASSERT_EQ(before.size(), 2U);
  ASSERT_EQ(kill(before[0], SIGKILL), 0);
  EXPECT_TRUE(eventually([&] {
    const auto now = children(program.id(), "conv-worker");
    return now.size() == 2 && std::find(now.begin(), now.end(), before[0]) == now.end();
  }));
  EXPECT_EQ(program.wait(), 0) << program.errors();
  EXPECT_NE(program.errors().find("ended with signal 9 (Killed)"), std::string::npos) << program.errors();
  const json result = object_of(program);
  EXPECT_EQ(result["status"], "finished");
  EXPECT_EQ(result["samples"], 40000);
}

TEST(Train, R13_AStopSavesTheModelAndLeavesNobody) {
  for (const int signal : {SIGTERM, SIGINT}) {
    const std::string folder = fresh_folder("stop");
    Program program(HOURGLASS_PROGRAM, train_words(folder + "/run", {"--samples", "100000000", "--no-dashboard"}), folder);
    ASSERT_TRUE(eventually([&] { return has_trained(folder + "/run", 500); })) << program.errors();
    const auto all = children(program.id());
    ASSERT_EQ(all.size(), 5U);
    program.signal(signal);
    EXPECT_EQ(program.wait(40), 0) << program.errors();
    EXPECT_EQ(object_of(program)["status"], "stopped");
    EXPECT_TRUE(read_text(folder + "/run/model.safetensors").has_value());
    for (const pid_t id : all) EXPECT_NE(kill(id, 0), 0) << id;
  }
}

TEST(Train, WithoutCheckpointsTheAggregatorsDeathIsReportedWithItsLog) {
  const std::string folder = fresh_folder("aggregator");
  Program program(HOURGLASS_PROGRAM,
                  train_words(folder + "/run", {"--samples", "100000000", "--no-dashboard", "--set", "run.checkpoint_every=0"}), folder);
  ASSERT_TRUE(eventually([&] { return has_trained(folder + "/run", 100); })) << program.errors();
  const auto all = children(program.id());
  const auto aggregator = children(program.id(), "aggregator");
  ASSERT_EQ(aggregator.size(), 1U);
  kill(aggregator[0], SIGKILL);
  EXPECT_EQ(program.wait(40), 1) << program.errors();
  const json result = object_of(program);
  EXPECT_EQ(result["status"], "failed");
  EXPECT_NE(
      result["reason"].get<std::string>().find("the aggregator ended with signal 9 (Killed); see " + folder + "/run/logs/aggregator-1.log"),
      std::string::npos);
  for (const pid_t id : all) EXPECT_NE(kill(id, 0), 0) << id;
}

TEST(Train, NoChildSurvivesAKilledSupervisor) {
  const std::string folder = fresh_folder("supervisor");
  Program program(HOURGLASS_PROGRAM, train_words(folder + "/run", {"--samples", "100000000", "--no-dashboard"}), folder);
  ASSERT_TRUE(eventually([&] { return has_trained(folder + "/run", 100); })) << program.errors();
  const auto all = children(program.id());
  ASSERT_EQ(all.size(), 5U);
  program.signal(SIGKILL);
  program.wait(10);
  for (const pid_t id : all) {
    // Whoever adopts them may be slow to reap them: a process without a command line has ended.
    EXPECT_TRUE(
        eventually([&] { return kill(id, 0) != 0 || read_text("/proc/" + std::to_string(id) + "/cmdline").value_or("").empty(); }, 30))
        << id;
  }
}

TEST(Train, ATakenDashboardPortIsPassedOver) {
  const int handle = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(handle, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(handle, 1), 0);
  socklen_t length = sizeof address;
  getsockname(handle, reinterpret_cast<sockaddr*>(&address), &length);
  const std::string taken = std::to_string(ntohs(address.sin_port));
  const std::string folder = fresh_folder("dashboard");
  Program program(HOURGLASS_PROGRAM, train_words(folder + "/run", {"--samples", "1600", "--monitor-port", taken}), folder);
  EXPECT_EQ(program.wait(), 0) << program.errors();
  close(handle);
  EXPECT_NE(program.errors().find("port " + taken), std::string::npos) << program.errors();
  EXPECT_NE(program.errors().find("dashboard: http://127.0.0.1:"), std::string::npos) << program.errors();
  const auto port = read_text(folder + "/run/monitor.port");
  ASSERT_TRUE(port.has_value());
  EXPECT_NE(*port, taken + "\n");
}

TEST(Train, AWrongSettingIsOneFailedObjectToo) {
  Program program(HOURGLASS_PROGRAM, {"train", "--batch", "0", "--json"}, fresh_folder("wrong"));
  EXPECT_EQ(program.wait(), 78);
  const json result = object_of(program);
  EXPECT_EQ(result["status"], "failed");
  EXPECT_NE(result["reason"].get<std::string>().find("flag --batch"), std::string::npos);
}

TEST(Simulate, TheSameSeedIsTheSameRunWithTheSameKindOfObject) {
  const std::vector<std::string> arguments = {"simulate", "--dataset", "synthetic", "--model",        "lenet5", "--samples",
                                              "1600",     "--batch",   "32",        "--conv-workers", "3",      "--bandwidth",
                                              "100",      "--jitter",  "5",         "--json"};
  json results[2];
  for (json& result : results) {
    Program program(HOURGLASS_PROGRAM, arguments, fresh_folder("simulate"));
    ASSERT_EQ(program.wait(), 0) << program.errors();
    result = object_of(program);
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0]["status"], "finished");
  EXPECT_EQ(results[0]["samples"], 1600);
  EXPECT_GT(results[0]["bytes"]["push_conv"]["socket"], 0);
  EXPECT_GT(results[0]["bytes"]["evaluation"]["socket"], 0);
}

TEST(Simulate, SavesTheRunWhereAskedAndSlowerCardsTakeLonger) {
  double seconds[2] = {0, 0};
  for (const int slow : {0, 1}) {
    const std::string folder = fresh_folder("simulate_saves");
    Program program(HOURGLASS_PROGRAM,
                    {"simulate", "--dataset", "synthetic", "--model", "lenet5", "--samples", "640", "--batch", "32", "--fc-workers", "0",
                     "--bandwidth", slow != 0 ? "10" : "1000", "--json", "--run-dir", folder + "/run"},
                    folder);
    ASSERT_EQ(program.wait(), 0) << program.errors();
    const json result = object_of(program);
    EXPECT_EQ(result["model"], folder + "/run/model.safetensors");
    for (const char* file : {"job.toml", "result.json", "model.safetensors"}) EXPECT_TRUE(read_text(folder + "/run/" + file).has_value());
    seconds[slow] = result["seconds"];
  }
  EXPECT_GT(seconds[1], 2 * seconds[0]);
}

TEST(Solo, PrintsTheSameKindOfObject) {
  const std::string folder = fresh_folder("solo");
  Program program(
      HOURGLASS_PROGRAM,
      {"solo", "--dataset", "synthetic", "--model", "lenet5", "--samples", "3200", "--batch", "32", "--json", "--run-dir", folder + "/run"},
      folder);
  ASSERT_EQ(program.wait(), 0) << program.errors();
  const json result = object_of(program);
  EXPECT_EQ(result["status"], "finished");
  EXPECT_EQ(result["samples"], 3200);
  EXPECT_TRUE(result["cpu_seconds"].is_object());
  EXPECT_TRUE(read_text(folder + "/run/model.safetensors").has_value());
}

}  // namespace
}  // namespace hourglass::integration
