// SPDX-License-Identifier: Apache-2.0
// Real processes: the aggregator is killed and goes on; runs are stopped or killed, and resumed.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>

#include <nlohmann/json.hpp>

#include "services/hosting/text_file.h"
#include "tests/integration/balance.h"
#include "tests/integration/program.h"

namespace hourglass::integration {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;
namespace fs = std::filesystem;

Words train_words(const std::string& run, const Words& more) {
  Words words = {"train",  "--dataset",      "synthetic",          "--model", "lenet5",       "--batch", "32", "--run-dir", run,
                 "--json", "--no-dashboard", "--checkpoint-every", "0.5",     "--dead-after", "5"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

json object_of(const Program& program) {
  json object = json::parse(program.output(), nullptr, false);
  EXPECT_TRUE(object.is_object() || object.is_array()) << program.output() << program.errors();
  return object;
}

json status_of(const std::string& run) {
  const auto text = read_text(run + "/status.json");
  return text ? json::parse(*text, nullptr, false) : json();
}

bool has_trained(const std::string& run, std::uint64_t samples, int generation = 1) {
  const json status = status_of(run);
  return status.is_object() && status["generation"] == generation && status.value("samples_done", std::uint64_t{0}) >= samples;
}

std::vector<std::string> checkpoints(const std::string& run) {
  std::vector<std::string> files;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(run, code)) {
    if (entry.path().extension() == ".hgck") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(Recovery, R14_AKilledAggregatorGoesOnFromItsCheckpointAndTheRunEnds) {
  const std::string folder = fresh_folder("killed_aggregator");
  const std::string run = folder + "/run";
  Program program(HOURGLASS_PROGRAM, train_words(run, {"--samples", "30000"}), folder);
  ASSERT_TRUE(eventually([&] { return has_trained(run, 3000) && !checkpoints(run).empty(); })) << program.errors();
  const auto before = children(program.id(), "aggregator");
  ASSERT_EQ(before.size(), 1U);
  const auto workers = children(program.id(), "conv-worker");
  ASSERT_EQ(kill(before[0], SIGKILL), 0);
  const auto killed = std::chrono::steady_clock::now();
  ASSERT_TRUE(eventually([&] { return has_trained(run, 1, 2) && status_of(run)["phase"] == "training"; })) << program.errors();
  std::cout << "training again after " << std::chrono::duration<double>(std::chrono::steady_clock::now() - killed).count() << " s\n";
  EXPECT_EQ(children(program.id(), "conv-worker"), workers) << "the others live on";
  ASSERT_EQ(program.wait(300), 0) << program.errors();
  const json result = object_of(program);
  EXPECT_EQ(result["status"], "finished");
  EXPECT_EQ(result["generation"], 2);
  EXPECT_EQ(result["samples"], 30000);
  EXPECT_GT(result["accuracy"].get<double>(), 0.5);
  expect_balance(result);
  EXPECT_NE(program.errors().find("aggregator-1 ended with signal 9 (Killed)"), std::string::npos) << program.errors();
  EXPECT_TRUE(children(program.id()).empty());
}

TEST(Recovery, K8_AStoppedRunIsResumedWithAnotherNumberOfWorkersAndItsCheckpointsCanBeLookedAt) {
  const std::string folder = fresh_folder("resumed");
  const std::string run = folder + "/run";
  {
    Program program(HOURGLASS_PROGRAM, train_words(run, {"--samples", "24000"}), folder);
    ASSERT_TRUE(eventually([&] { return has_trained(run, 3000); })) << program.errors();
    program.signal(SIGTERM);
    ASSERT_EQ(program.wait(), 0) << program.errors();
    EXPECT_EQ(object_of(program)["status"], "stopped");
  }
  Program list(HOURGLASS_PROGRAM, {"checkpoint", "list", run}, fresh_folder("resumed_list"));
  EXPECT_EQ(list.wait(), 0) << list.errors();
  EXPECT_NE(list.output().find("at a stop"), std::string::npos) << list.output();
  Program inspect(HOURGLASS_PROGRAM, {"checkpoint", "inspect", run, "--json"}, fresh_folder("resumed_inspect"));
  EXPECT_EQ(inspect.wait(), 0) << inspect.errors();
  const json newest = object_of(inspect);
  EXPECT_EQ(newest["model"], "lenet5");
  EXPECT_EQ(newest["phase"], "pausing");
  EXPECT_TRUE(newest["sections"].contains("state of conv-worker 1")) << newest.dump();
  const auto stopped_at = newest["samples"].get<std::uint64_t>();
  {
    Program program(HOURGLASS_PROGRAM, {"train", "--resume", run, "--conv-workers", "3", "--json", "--no-dashboard"}, folder);
    ASSERT_EQ(program.wait(300), 0) << program.errors();
    const json result = object_of(program);
    EXPECT_EQ(result["status"], "finished");
    EXPECT_EQ(result["samples"], 24000);
    EXPECT_EQ(result["conv_workers"], 3);
    EXPECT_EQ(result["generation"], 2);
    EXPECT_GE(result["history"].back()["samples"].get<std::uint64_t>(), stopped_at);
    expect_balance(result);
  }
  Program again(HOURGLASS_PROGRAM, {"train", "--resume", run}, fresh_folder("resumed_again"));
  EXPECT_EQ(again.wait(), 78);
  EXPECT_NE(again.errors().find("has finished"), std::string::npos) << again.errors();
}

TEST(Recovery, K8_ARunWhoseEveryProcessWasKilledIsResumedAndABrokenCheckpointIsNamed) {
  const std::string folder = fresh_folder("all_killed");
  const std::string run = folder + "/run";
  {
    Program program(HOURGLASS_PROGRAM, train_words(run, {"--samples", "24000", "--fc-workers", "0"}), folder);
    ASSERT_TRUE(eventually([&] { return has_trained(run, 3000) && checkpoints(run).size() >= 2; })) << program.errors();
    const auto all = children(program.id());
    for (const pid_t child : children(program.id(), "aggregator")) kill(child, SIGKILL);
    program.signal(SIGKILL);
    (void)program.wait();
    for (const pid_t child : all)
      EXPECT_TRUE(
          eventually([&] { return kill(child, 0) != 0 || read_text("/proc/" + std::to_string(child) + "/cmdline").value_or("").empty(); }));
  }
  const std::vector<std::string> files = checkpoints(run);
  ASSERT_GE(files.size(), 2U);
  fs::resize_file(files.back(), fs::file_size(files.back()) / 2);
  Program verify(HOURGLASS_PROGRAM, {"checkpoint", "verify", run}, fresh_folder("all_killed_verify"));
  EXPECT_EQ(verify.wait(), 65);
  EXPECT_NE(verify.output().find("BROKEN: checkpoint: cut short"), std::string::npos) << verify.output();
  EXPECT_NE(verify.output().find("good    "), std::string::npos) << verify.output();
  Program program(HOURGLASS_PROGRAM, {"train", "--resume", run, "--json", "--no-dashboard"}, folder);
  ASSERT_EQ(program.wait(300), 0) << program.errors();
  const json result = object_of(program);
  EXPECT_EQ(result["samples"], 24000);
  EXPECT_EQ(result["generation"], 2);
  expect_balance(result);
  const auto log = read_text(run + "/logs/aggregator-1.log");
  ASSERT_TRUE(log.has_value());
  EXPECT_NE(log->find(fs::path(files.back()).filename().string()), std::string::npos) << *log;
}

}  // namespace
}  // namespace hourglass::integration
