// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "services/options/command_line.h"

namespace hourglass {
namespace {

const std::vector<Command>& table() {
  static const std::vector<Command> rows = {
      {"train", "trains", "  hourglass train", kTakesProcess | kTakesJob | kTakesJson | kTakesDashboard, nullptr},
      {"conv-worker", "works", "", kTakesProcess, nullptr},
      {"evaluate", "evaluates", "", kTakesProcess | kTakesJob | kTakesJson | kTakesFrom, nullptr},
      {"simulate", "simulates", "", kTakesProcess | kTakesJob | kTakesJson | kTakesSimulation | kTakesDashboard, nullptr},
      {"chaos", "strikes", "", kTakesProcess | kTakesJob | kTakesJson | kTakesChaos | kTakesDashboard, nullptr},
      {"models", "lists", "", 0, nullptr},
  };
  return rows;
}

CommandLine parse(const std::vector<std::string>& arguments) { return parse_command_line(table(), arguments); }

std::string problems(const CommandLine& line) {
  std::string out;
  for (const auto& problem : line.flags.problems) out += problem.text + "\n";
  return out;
}

TEST(CommandLine, FlagsOfTheTableBecomeAssignments) {
  const auto line = parse({"train", "job.toml", "--batch", "8", "--learning-rate=0.1", "--compress", "topk ratio=0.01 | rice", "--json"});
  ASSERT_TRUE(line.flags.problems.empty()) << problems(line);
  EXPECT_EQ(line.job_file, "job.toml");
  EXPECT_TRUE(line.json);
  EXPECT_TRUE(line.dashboard);
  const Resolved resolved = resolve({line.flags});
  EXPECT_EQ(resolved.settings.job.batch, 8U);
  EXPECT_EQ(resolved.settings.job.learning_rate, 0.1);
  EXPECT_EQ(resolved.settings.job.compress, "topk ratio=0.01 | rice");
  EXPECT_EQ(resolved.origin("train.batch"), "flag --batch");
}

TEST(CommandLine, EveryFlagThatTrainPromisesExists) {
  for (const char* flag :
       {"--conv-workers", "--fc-workers", "--epochs", "--samples", "--staleness", "--local-steps", "--batch", "--seed"}) {
    EXPECT_TRUE(parse({"train", flag, "1"}).flags.problems.empty()) << flag;
  }
  for (const char* flag : {"--compress", "--downlink", "--model", "--dataset", "--data-dir", "--run-dir", "--optimizer", "--schedule"}) {
    EXPECT_TRUE(parse({"train", flag, "text"}).flags.problems.empty()) << flag;
  }
  const auto line = parse({"train", "--boundary", "u8", "--set", "train.batch=3", "--no-dashboard", "--json", "--print-config"});
  EXPECT_TRUE(line.flags.problems.empty()) << problems(line);
  EXPECT_FALSE(line.dashboard);
  EXPECT_TRUE(line.print_config);
}

TEST(CommandLine, TheLastOfAFlagWinsAndBeatsSet) {
  const Resolved resolved =
      resolve({parse({"train", "--batch", "1", "--batch", "2", "--set", "train.batch=3", "--set", "train.epochs=4"}).flags});
  EXPECT_EQ(resolved.settings.job.batch, 2U);
  EXPECT_EQ(resolved.settings.job.epochs, 4U);
}

TEST(CommandLine, NegativeAndEmptyValuesReachTheRangeCheck) {
  const auto negative = parse({"train", "--batch", "-5"});
  ASSERT_TRUE(negative.flags.problems.empty()) << problems(negative);
  const Resolved resolved = resolve({negative.flags});
  ASSERT_EQ(resolved.problems.size(), 1U);
  EXPECT_EQ(resolved.problems[0].text, "flag --batch: train.batch = \"-5\": it must be a whole number from 1 to 4096");
  EXPECT_EQ(worst(resolved.problems), ExitCode::config);
  EXPECT_EQ(resolve({parse({"train", "--batch", ""}).flags}).problems.size(), 1U);
  EXPECT_EQ(resolve({parse({"train", "--batch="}).flags}).problems.size() + parse({"train", "--batch="}).flags.problems.size(), 1U);
}

TEST(CommandLine, UnknownFlagsNameTheNearest) {
  const auto line = parse({"train", "--bacth", "32", "--conv-worker=3"});
  EXPECT_EQ(problems(line),
            "flag --bacth: unknown to `hourglass train`; did you mean --batch?\n"
            "flag --conv-worker: unknown to `hourglass train`; did you mean --conv-workers?\n");
  EXPECT_EQ(worst(line.flags.problems), ExitCode::usage);
  EXPECT_TRUE(line.job_file.empty());
}

TEST(CommandLine, AWorkerTakesNoSettingsOfTheJob) {
  const auto line = parse({"conv-worker", "--aggregator", "here:7070", "--batch", "3"});
  EXPECT_EQ(problems(line),
            "flag --batch: unknown to `hourglass conv-worker`; it is a setting of the job, which the aggregator hands out\n");
}

TEST(CommandLine, MissingValuesExtraArgumentsAndUnknownCommandsAreUsageErrors) {
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {}, {"trian"}, {"train", "--batch"}, {"train", "a.toml", "b.toml"}, {"models", "x"}, {"train", "--json=maybe"}}) {
    const auto line = parse(arguments);
    ASSERT_EQ(line.flags.problems.size(), 1U) << problems(line);
    EXPECT_EQ(line.flags.problems[0].code, ExitCode::usage);
  }
  EXPECT_NE(problems(parse({"trian"})).find("did you mean train?"), std::string::npos);
}

TEST(CommandLine, HelpShowsFlagsVariablesAndExitCodes) {
  const auto help = parse({"train", "--help"}).answer;
  ASSERT_TRUE(help.has_value());
  const auto of_simulation = parse({"simulate", "--help"}).answer;
  ASSERT_TRUE(of_simulation.has_value());
  const auto of_chaos = parse({"chaos", "--help"}).answer;
  ASSERT_TRUE(of_chaos.has_value());
  for (const auto& row : setting_table()) {
    const std::string flag = "  " + std::string(row.flag) + " ";
    const bool everywhere = row.scope == Scope::job || row.scope == Scope::process;
    EXPECT_EQ(help->find(flag) != std::string::npos, everywhere) << row.key;
    EXPECT_EQ(of_simulation->find(flag) != std::string::npos, everywhere || row.scope == Scope::simulation) << row.key;
    EXPECT_EQ(of_chaos->find(flag) != std::string::npos, everywhere || row.scope == Scope::chaos) << row.key;
  }
  for (const char* part : {"Examples:", "HOURGLASS_", "Exit codes:", "--no-dashboard", "--json", "--print-config", "--set"}) {
    EXPECT_NE(help->find(part), std::string::npos) << part;
  }
  const auto general = parse({"--help"}).answer;
  ASSERT_TRUE(general.has_value());
  for (const auto& command : table()) EXPECT_NE(general->find(command.name), std::string::npos);
  for (const auto& row : other_variables()) EXPECT_NE(general->find(row.name), std::string::npos);
}

TEST(CommandLine, VersionNamesACommit) {
  const auto version = parse({"--version"}).answer;
  ASSERT_TRUE(version.has_value());
  EXPECT_EQ(version->rfind("hourglass ", 0), 0U);
  EXPECT_NE(version->find('('), std::string::npos);
}

}  // namespace
}  // namespace hourglass
