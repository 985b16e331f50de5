// SPDX-License-Identifier: Apache-2.0
// `hourglass runs` on folders that real runs have left.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "tests/integration/program.h"

namespace hourglass::integration {
namespace {
using Json = nlohmann::json;
namespace fs = std::filesystem;

class Runs : public testing::Test {
 protected:
  int run(const std::vector<std::string>& words) {
    Program program(HOURGLASS_PROGRAM, words, fresh_folder("runs_command"));
    const int code = program.wait(120);
    out_ = program.output();
    err_ = program.errors();
    return code;
  }
  int train(const std::string& name, const std::vector<std::string>& more) {
    std::vector<std::string> words = {
        "train",        "--model", "lenet5",         "--dataset", "synthetic", "--samples",         "640", "--conv-workers", "1",
        "--fc-workers", "0",       "--monitor-port", "0",         "--run-dir", folder_ + "/" + name};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }

  std::string folder_ = fresh_folder("runs");
  std::string out_, err_;
};

TEST_F(Runs, AreListedShownComparedAndRemoved) {
  ASSERT_EQ(train("a", {"--batch", "16"}), 0) << err_;
  ASSERT_EQ(train("b", {"--batch", "32", "--no-dashboard"}), 0) << err_;
  ASSERT_EQ(run({"runs", "list", folder_}), 0) << err_;
  EXPECT_NE(out_.find("finished"), std::string::npos) << out_;
  EXPECT_NE(out_.find("no history"), std::string::npos) << out_;

  ASSERT_EQ(run({"runs", "list", folder_, "--json"}), 0);
  const Json list = Json::parse(out_);
  ASSERT_EQ(list.size(), 2U);
  ASSERT_EQ(run({"runs", "show", folder_ + "/a", "--json"}), 0);
  const Json shown = Json::parse(out_);
  std::ifstream result_file(folder_ + "/a/result.json");
  const Json result = Json::parse(result_file);
  EXPECT_EQ(shown["phase"], "finished");
  EXPECT_EQ(shown["settings"]["train.batch"], "16");
  EXPECT_EQ(shown["samples_done"], 640);
  EXPECT_EQ(shown["ledger"]["balanced"], true);
  const std::string pushes = std::to_string(shown["ledger"]["received"].get<int>());
  EXPECT_GE(shown["ledger"]["received"].get<int>(), 640 / 16);
  ASSERT_FALSE(shown["evaluations"].empty());
  EXPECT_DOUBLE_EQ(shown["accuracy"].get<double>(), result["accuracy"].get<double>());

  std::ifstream log(folder_ + "/a/events.jsonl");
  std::vector<std::string> texts;
  for (std::string line; std::getline(log, line);) texts.push_back(Json::parse(line)["text"]);
  EXPECT_NE(std::ranges::find(texts, "Run of lenet5 on synthetic"), texts.end());
  EXPECT_NE(std::ranges::find(texts, "Phase: finished"), texts.end());
  EXPECT_FALSE(fs::exists(folder_ + "/b/events.jsonl")) << "no monitor, no log";

  ASSERT_EQ(run({"runs", "show", folder_ + "/a"}), 0);
  EXPECT_NE(out_.find(pushes + " = " + pushes + " applied"), std::string::npos) << out_;
  ASSERT_EQ(run({"runs", "compare", folder_ + "/a", folder_ + "/b"}), 0);
  EXPECT_NE(out_.find("train.batch"), std::string::npos) << out_;

  {
    std::fstream history(folder_ + "/a/history.db", std::ios::binary | std::ios::in | std::ios::out);
    history.seekp(60);  // SQLite's user_version, big-endian
    ASSERT_TRUE(history.write("\0\0\0\x63", 4).flush());
  }
  EXPECT_EQ(run({"runs", "show", folder_ + "/a"}), 65);
  EXPECT_NE(err_.find("schema 99 is of a newer build"), std::string::npos) << err_;
  ASSERT_EQ(run({"runs", "rm", folder_ + "/a"}), 0) << err_;
  EXPECT_FALSE(fs::exists(folder_ + "/a"));
  EXPECT_TRUE(fs::exists(folder_ + "/b"));
}

TEST_F(Runs, ARunThatGoesOnIsShownAndNotRemoved) {
  Program live(HOURGLASS_PROGRAM,
               {"train", "--model", "lenet5", "--dataset", "synthetic", "--samples", std::to_string(kEndless), "--conv-workers", "1",
                "--fc-workers", "0", "--monitor-port", "0", "--run-dir", folder_ + "/live"},
               fresh_folder("runs_live"));
  ASSERT_TRUE(eventually([&] { return samples_done(folder_ + "/live") > 0; })) << live.errors();
  ASSERT_TRUE(eventually([&] {
    return run({"runs", "show", folder_ + "/live", "--json"}) == 0 && Json::parse(out_).value("samples_done", 0) > 0;
  })) << out_
      << err_;
  EXPECT_EQ(Json::parse(out_)["goes_on"], true);
  EXPECT_EQ(run({"runs", "rm", folder_ + "/live"}), 75);
  EXPECT_NE(err_.find("goes on"), std::string::npos) << err_;
  EXPECT_TRUE(fs::exists(folder_ + "/live/history.db"));

  const auto aggregators = children(live.id(), "aggregator");
  ASSERT_EQ(aggregators.size(), 1U);
  ASSERT_EQ(kill(aggregators[0], SIGSTOP), 0);
  fs::last_write_time(folder_ + "/live/status.json", fs::file_time_type::clock::now() - std::chrono::minutes(1));
  EXPECT_EQ(run({"runs", "rm", folder_ + "/live"}), 75) << "it stands still, and lives";
  ASSERT_EQ(kill(aggregators[0], SIGCONT), 0);
  live.signal(SIGTERM);
  EXPECT_EQ(live.wait(), 0) << live.errors();
}

TEST_F(Runs, WhatIsWrongIsSaid) {
  EXPECT_EQ(run({"runs"}), 2);
  EXPECT_EQ(run({"runs", "shwo", "x"}), 2);
  EXPECT_EQ(run({"runs", "compare", "x"}), 2);
  EXPECT_EQ(run({"runs", "list", folder_ + "/nowhere"}), 66);
  EXPECT_EQ(run({"runs", "show", folder_ + "/nowhere"}), 66);
  fs::create_directories(folder_ + "/keep");
  std::ofstream(folder_ + "/keep/thesis.txt") << "x";
  EXPECT_EQ(run({"runs", "rm", folder_ + "/keep"}), 66) << "a folder without a run is never removed";
  EXPECT_TRUE(fs::exists(folder_ + "/keep/thesis.txt"));
  fs::create_directories(folder_ + "/broken");
  std::ofstream(folder_ + "/broken/history.db") << std::string(5000, 'x');
  EXPECT_EQ(run({"runs", "show", folder_ + "/broken"}), 65) << err_;
  EXPECT_EQ(run({"runs", "list", folder_}), 65);
  EXPECT_NE(out_.find("broken"), std::string::npos);
}

}  // namespace
}  // namespace hourglass::integration
