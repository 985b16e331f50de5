// SPDX-License-Identifier: Apache-2.0
// hourglass simulate under faults, as people call it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "services/hosting/text_file.h"
#include "tests/integration/program.h"

namespace hourglass::integration {
namespace {

using nlohmann::json;

TEST(SimulateFaults, RandomClustersRunByTheSeedAndTellWhatTheyAre) {
  Program program(HOURGLASS_PROGRAM, {"simulate", "--random-cluster", "true", "--seeds", "10", "--first-seed", "3", "--json"},
                  fresh_folder("random_clusters"));
  ASSERT_EQ(program.wait(), 0) << program.errors();
  const json result = json::parse(program.output());
  EXPECT_EQ(result["status"], "finished");
  EXPECT_EQ(result["runs"], 10);
  EXPECT_EQ(result["failed_seeds"], json::array());
  EXPECT_GT(result["events"], 10'000);
  EXPECT_NE(program.errors().find("10 runs"), std::string::npos) << program.errors();
}

const std::vector<std::string> kSmallJob = {
    "simulate",  "--dataset", "synthetic", "--model", "conv 2 kernel=5 stride=4 | relu | flatten | cut | fc",
    "--samples", "1600",      "--batch",   "16"};

std::vector<std::string> with(std::vector<std::string> more) {
  more.insert(more.begin(), kSmallJob.begin(), kSmallJob.end());
  return more;
}

TEST(SimulateFaults, AScriptBefallsTheJobAndATraceShowsItAndRepeats) {
  const std::string folder = fresh_folder("fault_script");
  ASSERT_TRUE(write_text(folder + "/f.toml", "[[fault]]\nkind = \"crash\"\nat = 0.8\nwho = \"conv-worker 1\"\nrestart_after = 1\n").ok());
  for (const bool again : {false, true}) {
    Program program(HOURGLASS_PROGRAM, with({"--faults", "f.toml", again ? "--compare" : "--trace", "t.txt"}), folder);
    ASSERT_EQ(program.wait(), 0) << program.errors();
    EXPECT_NE(program.errors().find("no rule was broken"), std::string::npos) << program.errors();
  }
  const std::string trace = read_text(folder + "/t.txt").value_or("");
  EXPECT_NE(trace.find("# crash: conv-worker:"), std::string::npos);
  EXPECT_NE(trace.find("# restart: conv-worker:"), std::string::npos);
  Program other(HOURGLASS_PROGRAM, with({"--faults", "f.toml", "--compare", "t.txt", "--seed", "9"}), folder);
  EXPECT_EQ(other.wait(), 1);
  EXPECT_NE(other.errors().find("the run differs from t.txt at line "), std::string::npos) << other.errors();
}

TEST(SimulateFaults, WrongScriptsAndMissingOnesEndWithTheirPlace) {
  const std::string folder = fresh_folder("wrong_script");
  ASSERT_TRUE(write_text(folder + "/f.toml", "[[fault]]\nkind = \"melt\"\nat = 1\nwho = \"aggregator\"\n").ok());
  Program wrong(HOURGLASS_PROGRAM, with({"--faults", "f.toml"}), folder);
  EXPECT_EQ(wrong.wait(), 78);
  EXPECT_NE(wrong.errors().find("f.toml:2:8: kind = \\\"melt\\\" is none of crash, stop"), std::string::npos) << wrong.errors();
  Program missing(HOURGLASS_PROGRAM, with({"--faults", "nothing.toml"}), folder);
  EXPECT_EQ(missing.wait(), 66);
  EXPECT_NE(missing.errors().find("cannot read nothing.toml"), std::string::npos) << missing.errors();
}

TEST(SimulateFaults, AJobThatCannotEndFailsWithTheCommandThatRunsItAgain) {
  const std::string folder = fresh_folder("no_heir");
  ASSERT_TRUE(write_text(folder + "/f.toml", "[[fault]]\nkind = \"crash\"\nat = 0.8\nwho = \"data-loader 0\"\n").ok());
  Program program(HOURGLASS_PROGRAM, with({"--faults", "f.toml", "--seed", "4", "--json"}), folder);
  EXPECT_EQ(program.wait(), 1);
  EXPECT_NE(program.errors().find("liveness: all is healed, and training does not end"), std::string::npos) << program.errors();
  EXPECT_NE(program.errors().find("paused: no data-loader"), std::string::npos) << program.errors();
  EXPECT_NE(
      program.errors().find("seed 4 again: hourglass simulate --model 'conv 2 kernel=5 stride=4 | relu | flatten | cut | fc' --dataset "
                            "synthetic --batch 16 --samples 1600 --faults f.toml --seed 4"),
      std::string::npos)
      << program.errors();
  EXPECT_EQ(json::parse(program.output())["failed_seeds"], json::array({4}));
}

}  // namespace
}  // namespace hourglass::integration
