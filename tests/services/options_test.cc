// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "services/options/resolve.h"

namespace hourglass {
namespace {

std::string texts(const Resolved& resolved) {
  std::string out;
  for (const auto& problem : resolved.problems) out += problem.text + "\n";
  return out;
}

Resolved from_file(const std::string& text) { return resolve({parse_job_text(text, "run.toml")}); }
Resolved from_environment(const std::vector<std::string>& variables) { return resolve({read_environment(variables)}); }

void expect_problem(const Resolved& resolved, const std::string& line) {
  EXPECT_NE(texts(resolved).find(line), std::string::npos) << "expected: " << line << "\ngot: " << texts(resolved);
}

TEST(Options, DefaultsAreThoseOfTheJob) {
  const Resolved resolved = resolve({});
  EXPECT_TRUE(resolved.problems.empty());
  EXPECT_EQ(resolved.settings.job.batch, Job{}.batch);
  EXPECT_EQ(resolved.settings.job.optimizer, Job{}.optimizer);
  EXPECT_TRUE(resolved.is_default("train.batch"));
}

TEST(Options, AStrongerSourceWins) {
  const Source file = parse_job_text("[train]\nbatch = 10\nepochs = 11\nlocal_steps = 12\n", "run.toml");
  const Source environment = read_environment({"HOURGLASS_BATCH=20", "HOURGLASS_EPOCHS=21", "PATH=/bin"});
  const Source flags = parse_set({"train.batch=30"});
  const Resolved resolved = resolve({file, environment, flags});
  ASSERT_TRUE(resolved.problems.empty()) << texts(resolved);
  EXPECT_EQ(resolved.settings.job.batch, 30U);
  EXPECT_EQ(resolved.settings.job.epochs, 21U);
  EXPECT_EQ(resolved.settings.job.local_steps, 12U);
  EXPECT_EQ(resolved.settings.job.outstanding, Job{}.outstanding);
  EXPECT_EQ(resolved.origin("train.batch"), "flag --set");
  EXPECT_EQ(resolved.origin("train.epochs"), "environment HOURGLASS_EPOCHS");
  EXPECT_EQ(resolved.origin("train.local_steps"), "run.toml:4:15");
  EXPECT_EQ(resolved.origin("train.outstanding"), "default");
}

TEST(Options, S7_EveryProblemOfEverySourceIsReported) {
  const Resolved resolved =
      resolve({parse_job_text("[train]\nbatch = 0\nepochs = \"three\"\nbacth = 3\n[trian]\nx = 1\n", "run.toml"),
               read_environment({"HOURGLASS_SEED=x", "HOURGLASS_SEEED=1"}), parse_set({"train.outstanding=33", "seed=4", "batch"})});
  expect_problem(resolved, "run.toml:2:9: train.batch = 0: it must be a whole number from 1 to 4096");
  expect_problem(resolved, "run.toml:3:10: train.epochs = \"three\": it must be a whole number from 1 to 1000000");
  expect_problem(resolved, "run.toml:4:1: unknown key train.bacth; did you mean train.batch?");
  expect_problem(resolved, "run.toml:5:2: unknown section [trian]; did you mean train?");
  expect_problem(resolved, "environment HOURGLASS_SEED: run.seed = \"x\": it must be a whole number");
  expect_problem(resolved, "environment HOURGLASS_SEEED: unknown variable; did you mean HOURGLASS_SEED?");
  expect_problem(resolved, "flag --set: train.outstanding = \"33\": it must be a whole number from 1 to 32");
  expect_problem(resolved, "flag --set: unknown key seed; did you mean run.seed?");
  expect_problem(resolved, "flag --set: 'batch' is not key=value");
  EXPECT_EQ(resolved.problems.size(), 9U) << texts(resolved);
  EXPECT_EQ(resolved.settings.job.batch, Job{}.batch);
}

TEST(Options, AKeyInTheWrongSectionFindsItsHome) {
  expect_problem(from_file("[run]\nbatch = 64\n"), "run.toml:2:1: unknown key run.batch; did you mean train.batch?");
  expect_problem(from_file("learning_rate = 1\n"), "run.toml:1:1: unknown key learning_rate; did you mean train.learning_rate?");
  expect_problem(from_file("train = 1\n"), "run.toml:1:1: train must be a section, [train]");
}

TEST(Options, SyntaxErrorsNameLineAndColumn) {
  const Resolved resolved = from_file("[train]\nbatch = = 3\n");
  ASSERT_EQ(resolved.problems.size(), 1U);
  EXPECT_EQ(resolved.problems[0].text.rfind("run.toml:2:9: not valid TOML", 0), 0U) << texts(resolved);
  EXPECT_EQ(worst(resolved.problems), ExitCode::config);
}

TEST(Options, N5_DeepNestingIsACleanError) {
  const Resolved resolved = from_file("a = " + std::string(200000, '[') + "\n");
  ASSERT_EQ(resolved.problems.size(), 1U);
  EXPECT_NE(texts(resolved).find("run.toml:1:"), std::string::npos);
}

TEST(Options, AMissingFileIsMissingData) {
  const Source source = read_job_file("/nonexistent/job.toml");
  ASSERT_EQ(source.problems.size(), 1U);
  EXPECT_EQ(source.problems[0].code, ExitCode::missing_data);
  EXPECT_EQ(source.problems[0].text, "job file /nonexistent/job.toml: No such file or directory");
}

TEST(Options, AFileIsReadWithItsNameInOrigins) {
  const std::string path = ::testing::TempDir() + "options_test.toml";
  std::ofstream(path) << "[bytes]\nboundary = \"u8\"\n";
  const Resolved resolved = resolve({read_job_file(path)});
  EXPECT_EQ(resolved.settings.job.boundary, "u8");
  EXPECT_EQ(resolved.origin("bytes.boundary"), path + ":2:12");
}

TEST(Options, StalenessTakesANumberOrUnlimited) {
  EXPECT_EQ(from_file("[train]\nstaleness = 0\n").settings.job.staleness, 0);
  EXPECT_EQ(from_file("[train]\nstaleness = \"unlimited\"\n").settings.job.staleness, kUnlimited);
  EXPECT_EQ(from_environment({"HOURGLASS_STALENESS=unlimited"}).settings.job.staleness, kUnlimited);
  for (const char* wrong : {"-1", "\"infinite\"", "1.5", "true"}) {
    expect_problem(
        from_file("[train]\nstaleness = " + std::string(wrong) + "\n"),
        "run.toml:2:13: train.staleness = " + std::string(wrong) + ": it must be a whole number from 0 to 1000000 or \"unlimited\"");
  }
}

TEST(Options, S7_NumbersMustBeWholeTexts) {
  for (const char* wrong : {"", " ", "1 ", "0x10", "1e3", "99999999999999999999", "nan"}) {
    EXPECT_EQ(from_environment({"HOURGLASS_BATCH=" + std::string(wrong)}).problems.size(), 1U) << wrong;
  }
  for (const char* wrong : {"nan", "inf", "-inf"}) {
    EXPECT_EQ(from_file("[train]\nlearning_rate = " + std::string(wrong) + "\n").problems.size(), 1U) << wrong;
    EXPECT_EQ(from_environment({"HOURGLASS_LEARNING_RATE=" + std::string(wrong)}).problems.size(), 1U) << wrong;
  }
}

TEST(Options, VariablesOfServiceLinksArePassedOver) {
  const Resolved resolved = from_environment({"HOURGLASS_AGGREGATOR_SERVICE_HOST=10.0.0.1", "HOURGLASS_AGGREGATOR_PORT=tcp://10.0.0.1:7070",
                                              "HOURGLASS_AGGREGATOR_PORT_7070_TCP_ADDR=10.0.0.1", "HOURGLASS_NO_INSTALL=1"});
  EXPECT_TRUE(resolved.problems.empty()) << texts(resolved);
}

/// Each key, from each source, with each kind of wrong value: one line that names key, value, range and origin.
class EverySetting : public ::testing::TestWithParam<std::size_t> {
 protected:
  [[nodiscard]] const Setting& row() const { return setting_table()[GetParam()]; }
  [[nodiscard]] bool is_text() const { return row().show(Settings{}).front() == '"' && row().allowed.find("number") == std::string::npos; }
};

TEST_P(EverySetting, HasANameInEachSourceAndAHelp) {
  EXPECT_EQ(row().flag.substr(0, 2), "--");
  EXPECT_FALSE(row().help.empty());
  EXPECT_FALSE(row().allowed.empty());
  for (std::size_t i = 0; i < GetParam(); ++i) {
    EXPECT_NE(setting_table()[i].key, row().key);
    EXPECT_NE(setting_table()[i].flag, row().flag);
    EXPECT_NE(setting_table()[i].environment_name(), row().environment_name());
  }
}

TEST_P(EverySetting, TakesItsOwnDefaultFromEverySource) {
  const std::string shown = row().show(Settings{});
  if (shown == "\"\"" && row().allowed.find("empty") == std::string::npos && row().allowed.find("at most") == std::string::npos) return;
  const std::string plain = shown.front() == '"' ? shown.substr(1, shown.size() - 2) : shown;
  const std::string file = "[" + std::string(row().section()) + "]\n" + std::string(row().name()) + " = " + shown + "\n";
  for (const Resolved& resolved : {from_file(file), from_environment({row().environment_name() + "=" + plain}),
                                   resolve({parse_set({std::string(row().key) + "=" + plain})})}) {
    EXPECT_TRUE(resolved.problems.empty()) << texts(resolved);
    EXPECT_EQ(row().show(resolved.settings), shown);
    EXPECT_FALSE(resolved.is_default(row().key));
  }
}

TEST_P(EverySetting, S7_RefusesWrongValuesInOneLineThatNamesEverything) {
  const std::string key(row().key);
  const std::string section = "[" + std::string(row().section()) + "]\n";
  const std::string at = "run.toml:2:" + std::to_string(row().name().size() + 4);
  std::vector<std::string> wrong = {"[1, 2]", "1979-05-27"};
  if (is_text()) {
    wrong.insert(wrong.end(), {"17", "true", "0.5"});
  } else {
    wrong.insert(wrong.end(), {"\"\"", "\"many\"", "-17", "1e300"});
  }
  for (const auto& value : wrong) {
    const Resolved resolved = from_file(section + std::string(row().name()) + " = " + value + "\n");
    ASSERT_EQ(resolved.problems.size(), 1U) << value;
    const std::string& text = resolved.problems[0].text;
    EXPECT_EQ(text.rfind(at + ": " + key + " = ", 0), 0U) << text;
    EXPECT_NE(text.find("it must be " + row().allowed), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    EXPECT_EQ(worst(resolved.problems), ExitCode::config);
  }
  const std::string bad = is_text() ? "\x01" : "";  // empty and unprintable values come from the environment too
  const Resolved resolved = from_environment({row().environment_name() + "=" + bad});
  ASSERT_EQ(resolved.problems.size(), 1U);
  EXPECT_EQ(resolved.problems[0].text.rfind("environment " + row().environment_name() + ": " + key + " = ", 0), 0U) << texts(resolved);
}

INSTANTIATE_TEST_SUITE_P(Table, EverySetting, ::testing::Range<std::size_t>(0, setting_table().size()), [](const auto& each) {
  std::string name(setting_table()[each.param].key);
  for (char& c : name) c = c == '.' ? '_' : c;
  return name;
});

TEST(PrintConfig, RoundTrips) {
  const Source changes =
      parse_set({"train.batch=7", "train.staleness=unlimited", "train.learning_rate=1e-5", "model.name=conv 8 | relu | fc",
                 "data.dir=C:\\some \"dir\"", "bytes.flush_residual=false", "process.threads=auto", "process.aggregator=a:1"});
  const Resolved first = resolve({changes});
  ASSERT_TRUE(first.problems.empty()) << texts(first);
  const Resolved second = resolve({parse_job_text(print_config(first), "printed.toml")});
  ASSERT_TRUE(second.problems.empty()) << texts(second);
  for (const auto& row : setting_table()) EXPECT_EQ(row.show(first.settings), row.show(second.settings)) << row.key;
  EXPECT_EQ(second.settings.data_dir, "C:\\some \"dir\"");
  EXPECT_EQ(second.settings.job.learning_rate, 1e-5);
}

TEST(PrintConfig, HasNoSecret) {
  const Resolved given = resolve({parse_set({"monitor.token=not-for-others"})});
  EXPECT_EQ(given.settings.monitor_token, "not-for-others");
  EXPECT_EQ(print_config(given).find("not-for-others"), std::string::npos);
  EXPECT_NE(print_config(given).find("# token: a secret"), std::string::npos);
  EXPECT_TRUE(resolve({parse_job_text(print_config(given), "printed.toml")}).problems.empty());
}

TEST(PrintConfig, ShowsTheOriginOfEveryKey) {
  const std::string text = print_config(resolve({parse_set({"train.batch=7"})}));
  for (const auto& row : setting_table()) EXPECT_NE(text.find(std::string(row.name()) + " = "), std::string::npos) << row.key;
  const std::size_t at = text.find("batch = 7");
  ASSERT_NE(at, std::string::npos);
  EXPECT_NE(text.substr(at, text.find('\n', at) - at).find("# flag --set"), std::string::npos);
}

}  // namespace
}  // namespace hourglass
