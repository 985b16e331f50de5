// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "services/supervisor/child_process.h"
#include "services/supervisor/progress.h"
#include "services/supervisor/run_folder.h"
#include "services/supervisor/run_report.h"
#include "services/supervisor/train_run.h"

namespace hourglass {
namespace {

namespace fs = std::filesystem;

std::string fresh_folder(const std::string& name) {
  const fs::path folder = fs::path(::testing::TempDir()) / ("supervisor_" + name + "_" + std::to_string(getpid()));
  fs::remove_all(folder);
  fs::create_directories(folder / "logs");
  return folder.string();
}

void write_file(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

Result<ChildProcess> shell(const std::string& script, const std::string& log) {
  ChildOptions options;
  options.executable = "/bin/sh";
  options.arguments = {"-c", script};
  options.environment = {"PATH=/usr/bin:/bin", "COLOUR=blue"};
  options.log_file = log;
  return ChildProcess::start(options);
}

Ending wait_for(ChildProcess& child) {
  while (!child.poll()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  return *child.poll();
}

TEST(Child, ItsOutputAndEndingAreKept) {
  const std::string log = fresh_folder("child") + "/log";
  auto child = shell("echo out $COLOUR; echo err >&2; exit 78", log);
  ASSERT_TRUE(child.ok());
  const Ending ending = wait_for(child.value());
  EXPECT_FALSE(ending.by_signal);
  EXPECT_EQ(to_string(ending), "exit code 78 (wrong setting)");
  EXPECT_EQ(last_lines(log, 9), (std::vector<std::string>{"out blue", "err"}));
}

TEST(Child, ASignalIsNamed) {
  auto child = shell("kill -9 $$", fresh_folder("signal") + "/log");
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(to_string(wait_for(child.value())), "signal 9 (Killed)");
}

TEST(Child, IsKilledWithItsOwner) {
  pid_t id = 0;
  {
    auto child = shell("exec sleep 1000", fresh_folder("owner") + "/log");
    ASSERT_TRUE(child.ok());
    id = child.value().id();
    ASSERT_EQ(kill(id, 0), 0);
  }
  EXPECT_NE(kill(id, 0), 0);
}

TEST(Child, WhatCannotRunIsAnError) {
  ChildOptions options;
  options.executable = "/nonexistent/program";
  options.log_file = fresh_folder("missing") + "/log";
  const auto child = ChildProcess::start(options);
  ASSERT_FALSE(child.ok());
  EXPECT_EQ(child.error().text, "cannot start /nonexistent/program: No such file or directory");
}

TEST(Log, LastLinesAreTheNewestAndALongLogIsCut) {
  const std::string log = fresh_folder("log") + "/log";
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "line " + std::to_string(i) + "\n";
  write_file(log, text);
  EXPECT_EQ(last_lines(log, 2), (std::vector<std::string>{"line 19998", "line 19999"}));
  bound_log(log, text.size());
  EXPECT_EQ(fs::file_size(log), text.size());
  bound_log(log, 1000);
  EXPECT_EQ(fs::file_size(log), 0U);
  EXPECT_EQ(last_lines(log + ".1", 1), (std::vector<std::string>{"line 19999"}));
  EXPECT_TRUE(last_lines(log + ".none", 1).empty());
}

TEST(RunFolder, RefusesAFolderThatHoldsARun) {
  const std::string folder = fresh_folder("run");
  write_file(folder + "/notes.txt", "mine");
  ASSERT_TRUE(make_run_folder(folder, "cnn").ok());
  write_file(folder + "/result.json", "{}");
  const auto refused = make_run_folder(folder, "cnn");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Errc::bad_config);
  EXPECT_NE(refused.error().text.find("holds another run (result.json)"), std::string::npos);
}

TEST(RunFolder, NamesFoldersByTimeAndModel) {
  const fs::path before = fs::current_path();
  fs::current_path(fresh_folder("names"));
  const auto first = make_run_folder("", "lenet5");
  const auto second = make_run_folder("", "conv 8 | fc");
  fs::current_path(before);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first.value().rfind("runs/2", 0), 0U);
  EXPECT_EQ(first.value().substr(first.value().size() - 7), "-lenet5");
  EXPECT_NE(second.value().find("-custom"), std::string::npos);
}

TEST(RunFolder, AModelAndItsJobAreFoundByFolderOrFile) {
  const std::string folder = fresh_folder("from");
  EXPECT_EQ(job_file_beside(folder), "");
  write_file(folder + "/job.toml", "");
  EXPECT_EQ(model_file_of(folder), folder + "/model.safetensors");
  EXPECT_EQ(model_file_of(folder + "/other.safetensors"), folder + "/other.safetensors");
  EXPECT_EQ(job_file_beside(folder), folder + "/job.toml");
  EXPECT_EQ(job_file_beside(folder + "/other.safetensors"), folder + "/job.toml");
}

TEST(Report, StatusIsReadAndHalfAFileIsNot) {
  const std::string text = R"({"phase":"training","epoch":2,"epochs":3,"samples_done":50,"samples_total":200,"samples_per_s":10.5,
      "loss":0.25,"accuracy":null,"bytes_per_s":2500000,"conv_workers":2,"fc_workers":1,"conv_workers_wanted":2})";
  const auto status = parse_status(text);
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(status->phase, "training");
  EXPECT_EQ(status->samples_total, 200U);
  EXPECT_EQ(status->loss, 0.25);
  EXPECT_FALSE(status->accuracy.has_value());
  EXPECT_FALSE(parse_status(text.substr(0, text.size() / 2)).has_value());
  EXPECT_FALSE(parse_status("[1]").has_value());
  EXPECT_FALSE(parse_status("").has_value());
  EXPECT_TRUE(parse_status(R"({"phase":3,"epoch":"x"})").has_value());
}

TEST(Report, TheResultNamesTheModelByItsPath) {
  const auto object = compose_result(R"({"run":"a","status":"finished","accuracy":0.9,"model":"model.safetensors"})", "runs/x");
  ASSERT_TRUE(object.has_value());
  EXPECT_EQ(object->find('\n'), std::string::npos);
  EXPECT_EQ(text_member(*object, "model"), "runs/x/model.safetensors");
  EXPECT_EQ(text_member(*object, "run_dir"), "runs/x");
  EXPECT_EQ(text_member(*object, "status"), "finished");
  EXPECT_FALSE(compose_result("", "runs/x").has_value());
  const std::string failure = compose_failure("runs/x", "no \"room\"\nleft");
  EXPECT_EQ(text_member(failure, "status"), "failed");
  EXPECT_EQ(text_member(failure, "reason"), "no \"room\"\nleft");
}

TEST(ProgressLine, SaysWhereTheRunIs) {
  StatusReport status;
  status.phase = "training";
  status.epoch = 1;
  status.epochs = 3;
  status.samples_done = 50;
  status.samples_total = 200;
  status.samples_per_s = 2;
  status.bytes_per_s = 3'200'000;
  status.loss = 0.312;
  status.accuracy = 0.889;
  status.conv_workers = 2;
  status.fc_workers = 1;
  EXPECT_EQ(progress_line(status), "training 25 %, epoch 2/3, loss 0.312, accuracy 88.90 %, 2 samples/s, 3.2 MB/s, ETA 1:15, 2 CONV 1 FC");
  const std::string bar = progress_bar(status, 200, false);
  EXPECT_NE(bar.find("[######------------------]  25 %"), std::string::npos) << bar;
  EXPECT_EQ(progress_bar(status, 40, false).size(), 40U);
  EXPECT_NE(progress_bar(status, 200, true).find("\033[32m######\033[0m"), std::string::npos);
  status.phase = "waiting";
  status.conv_workers_wanted = 3;
  EXPECT_EQ(progress_line(status), "waiting for CONV workers: 2 of 3");
}

/// A stand-in for the program: a shell script that plays every role by its first argument.
class ScriptedRun : public ::testing::Test {
 protected:
  RunOutcome play(const std::string& name, const std::string& roles, int signal = 0) {
    folder_ = fresh_folder(name);
    const std::string program = folder_ + "/program.sh";
    write_file(program, "#!/bin/sh\nrun=$3\nrole=$1\ncase $role in\n" + roles + "esac\n");
    fs::permissions(program, fs::perms::owner_all);
    Resolved resolved = resolve({});
    resolved.settings.job.conv_workers = 1;
    resolved.settings.checkpoint_every = checkpoint_every_;
    SupervisionLimits limits;
    limits.restart_first_seconds = 0.01;
    limits.restart_max_seconds = 0.02;
    limits.left_early_seconds = 0.01;
    limits.quick_kills_max = 12;
    limits.farewell_seconds = 0.5;
    limits.stop_seconds = 5;
    limits.aggregator_start_seconds = 10;
    TrainRun run(resolved, folder_, program, false, limits);
    run.set_onlooker(onlooker_);
    stop_signal_ = signal;
    stop_count_ = signal == 0 ? 0 : 1;
    return run.run(stop_signal_, stop_count_);
  }
  [[nodiscard]] std::string file(const std::string& name) const { return read_text(folder_ + "/" + name).value_or(""); }

  std::string folder_;
  Onlooker onlooker_;
  std::map<std::string, Role> seen_;
  double checkpoint_every_ = 60;
  volatile int stop_signal_ = 0;
  volatile int stop_count_ = 0;
};

constexpr const char* kSave =
    "echo '{\"status\":\"finished\",\"model\":\"model.safetensors\"}' > $run/result.json; touch $run/model.safetensors; ";
constexpr const char* kPort = "echo 4711 > $run/aggregator.port; ";
constexpr const char* kSleepers = "data-loader|fc-worker|monitor) exec sleep 100;;\n";

TEST_F(ScriptedRun, EndsWithTheAggregatorAndItsResult) {
  const RunOutcome outcome =
      play("good", "aggregator) " + std::string(kPort) + "sleep 0.3; " + kSave + "exit 0;;\nconv-worker) exec sleep 100;;\n" + kSleepers);
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.reason;
  EXPECT_EQ(text_member(outcome.result, "status"), "finished");
}

TEST_F(ScriptedRun, WorkersAreToldWhereTheAggregatorListens) {
  play("address", "aggregator) " + std::string(kPort) + "sleep 0.5; " + kSave +
                      "exit 0;;\nconv-worker) echo $* > $run/arguments; exec sleep 100;;\n" + kSleepers);
  EXPECT_NE(file("arguments").find("--aggregator 127.0.0.1:4711"), std::string::npos) << file("arguments");
}

TEST_F(ScriptedRun, ADeadWorkerIsReplaced) {
  const RunOutcome outcome =
      play("replaced", "aggregator) " + std::string(kPort) + "while ! test -f $run/second; do sleep 0.05; done; " + kSave +
                           "exit 0;;\nconv-worker) if test -f $run/first; then touch $run/second; exec sleep 100; fi; "
                           "touch $run/first; kill -9 $$;;\n" +
                           kSleepers);
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.reason;
}

TEST_F(ScriptedRun, AWorkerThatLeavesDuringTrainingIsReplaced) {
  const RunOutcome outcome =
      play("left", "aggregator) " + std::string(kPort) + "while ! test -f $run/second; do sleep 0.05; done; " + kSave +
                       "exit 0;;\nconv-worker) if test -f $run/first; then touch $run/second; exec sleep 100; fi; "
                       "touch $run/first; exit 0;;\n" +
                       kSleepers);
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.reason;
}

TEST_F(ScriptedRun, AWorkerThatKeepsDyingEndsTheRunWithItsLastWords) {
  const RunOutcome outcome =
      play("dying", "aggregator) " + std::string(kPort) +
                        "exec sleep 100;;\nconv-worker) echo x >> $run/deaths; echo I am ill; exit 74;;\n" + kSleepers);
  EXPECT_EQ(outcome.exit_status(), 74);
  EXPECT_EQ(file("deaths"), "x\nx\nx\nx\nx\n");
  EXPECT_NE(outcome.reason.find("conv-worker-1 ended with exit code 74"), std::string::npos) << outcome.reason;
  EXPECT_NE(outcome.reason.find("I am ill"), std::string::npos) << outcome.reason;
}

TEST_F(ScriptedRun, AWorkerThatOthersKillIsReplacedMoreOftenThanOneThatFails) {
  const RunOutcome outcome =
      play("killed", "aggregator) " + std::string(kPort) + "while test $(wc -l < $run/deaths) -lt 10; do sleep 0.05; done; " + kSave +
                         "exit 0;;\nconv-worker) echo x >> $run/deaths; if test $(wc -l < $run/deaths) -gt 10; then exec sleep 100; fi; "
                         "kill -9 $$;;\n" +
                         kSleepers);
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.reason;
}

TEST_F(ScriptedRun, ButNotForEver) {
  const RunOutcome outcome = play("killed_always", "aggregator) " + std::string(kPort) +
                                                       "exec sleep 100;;\nconv-worker) echo x >> $run/deaths; kill -9 $$;;\n" + kSleepers);
  EXPECT_EQ(outcome.exit_status(), 1);
  EXPECT_NE(outcome.reason.find("the run is given up"), std::string::npos) << outcome.reason;
  const std::string deaths = file("deaths");
  EXPECT_EQ(std::count(deaths.begin(), deaths.end(), 'x'), 12);
}

TEST_F(ScriptedRun, AnOnlookerSeesEveryChild) {
  onlooker_ = [&](const std::vector<ChildView>& children, const StatusReport&, double) {
    for (const ChildView& child : children) {
      if (child.process > 0) seen_[child.name] = child.role;
    }
  };
  play("onlooker", "aggregator) " + std::string(kPort) + "sleep 0.5; " + kSave + "exit 0;;\nconv-worker) exec sleep 100;;\n" + kSleepers);
  EXPECT_EQ(seen_, (std::map<std::string, Role>{{"aggregator-1", Role::aggregator},
                                                {"conv-worker-1", Role::conv_worker},
                                                {"data-loader-1", Role::data_loader},
                                                {"fc-worker-1", Role::fc_worker}}));
}

TEST_F(ScriptedRun, AWrongSettingIsNotTriedAgain) {
  const RunOutcome outcome = play(
      "setting", "aggregator) " + std::string(kPort) + "exec sleep 100;;\nconv-worker) echo x >> $run/deaths; exit 78;;\n" + kSleepers);
  EXPECT_EQ(outcome.exit_status(), 78);
  EXPECT_EQ(file("deaths"), "x\n");
}

TEST_F(ScriptedRun, R14_AKilledAggregatorIsStartedAgainWhereItWasAndGoesOn) {
  const RunOutcome outcome =
      play("heir", "aggregator) echo $* >> $run/lives; if test -f $run/first; then while ! test -f $run/worker; do sleep 0.05; done; " +
                       std::string(kSave) + "exit 0; fi; " + kPort +
                       "touch $run/first; sleep 0.3; kill -9 $$;;\nconv-worker) echo x >> $run/worker; exec sleep 100;;\n" + kSleepers);
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.reason;
  const std::string lives = file("lives");
  EXPECT_EQ(std::count(lives.begin(), lives.end(), '\n'), 2) << lives;
  const std::string second = lives.substr(lives.find('\n') + 1);
  EXPECT_NE(second.find("--listen 127.0.0.1:4711"), std::string::npos) << second;
  EXPECT_NE(second.find("--recover auto"), std::string::npos) << second;
  EXPECT_EQ(file("worker"), "x\n") << "the others live on";
}

TEST_F(ScriptedRun, AnAggregatorThatKeepsDyingEndsTheRun) {
  const RunOutcome outcome = play("doomed", "aggregator) echo x >> $run/lives; " + std::string(kPort) +
                                                "sleep 0.1; kill -9 $$;;\nconv-worker) exec sleep 100;;\n" + kSleepers);
  EXPECT_EQ(outcome.exit_status(), 1);
  const std::string lives = file("lives");
  EXPECT_EQ(std::count(lives.begin(), lives.end(), 'x'), 12) << "as often as anybody whom others kill";
  EXPECT_NE(outcome.reason.find("aggregator-1 ended with signal 9 (Killed)"), std::string::npos) << outcome.reason;
}

TEST_F(ScriptedRun, AnAggregatorThatSaysWhyItEndsIsNotTriedAgain) {
  const RunOutcome outcome = play("told", "aggregator) echo x >> $run/lives; " + std::string(kPort) +
                                              "sleep 0.1; echo the disk is full; exit 74;;\nconv-worker) exec sleep 100;;\n" + kSleepers);
  EXPECT_EQ(outcome.exit_status(), 74);
  EXPECT_EQ(file("lives"), "x\n");
}

TEST_F(ScriptedRun, WithoutCheckpointsTheAggregatorsDeathEndsTheRunAndNamesItsLog) {
  checkpoint_every_ = 0;
  const RunOutcome outcome =
      play("death", "aggregator) " + std::string(kPort) + "echo the end is near; sleep 0.2; kill -9 $$;;\nconv-worker) exec sleep 100;;\n" +
                        kSleepers);
  EXPECT_EQ(outcome.exit_status(), 1);
  EXPECT_NE(outcome.reason.find("the aggregator ended with signal 9 (Killed); see " + folder_ + "/logs/aggregator-1.log"),
            std::string::npos)
      << outcome.reason;
  EXPECT_NE(outcome.reason.find("the end is near"), std::string::npos) << outcome.reason;
}

TEST_F(ScriptedRun, AnAggregatorThatCannotStartEndsTheRunWithItsCode) {
  const RunOutcome outcome = play("start", "aggregator) echo port taken; exit 69;;\nconv-worker) touch $run/started;;\n");
  EXPECT_EQ(outcome.exit_status(), 69);
  EXPECT_NE(outcome.reason.find("port taken"), std::string::npos) << outcome.reason;
  EXPECT_EQ(file("started"), "");
}

TEST_F(ScriptedRun, AStopThatSavesIsNoFailure) {
  const RunOutcome outcome = play("stop",
                                  "aggregator) trap 'touch $run/model.safetensors; echo {} > $run/result.json; exit 0' TERM; " +
                                      std::string(kPort) + "while true; do sleep 0.05; done;;\nconv-worker) exec sleep 100;;\n" + kSleepers,
                                  SIGTERM);
  EXPECT_EQ(outcome.exit_status(), 0) << outcome.reason;
}

TEST_F(ScriptedRun, AStopThatDoesNotSaveSaysSo) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const RunOutcome outcome = play("unsaved",
                                    "aggregator) trap 'exit 0' TERM; " + std::string(kPort) +
                                        "while true; do sleep 0.05; done;;\nconv-worker) exec sleep 100;;\n" + kSleepers,
                                    signal);
    EXPECT_EQ(outcome.exit_status(), 128 + signal);
    EXPECT_NE(outcome.reason.find("interrupted before the model was saved"), std::string::npos) << outcome.reason;
  }
}

TEST_F(ScriptedRun, NoChildSurvives) {
  play("orphans", "aggregator) " + std::string(kPort) + "sleep 0.5; " + kSave +
                      "exit 0;;\n*) trap '' TERM; echo $$ >> $run/ids; while true; do sleep 0.05; done;;\n");
  std::ifstream ids(folder_ + "/ids");
  int count = 0;
  for (pid_t id = 0; ids >> id; ++count) EXPECT_NE(kill(id, 0), 0) << id;
  EXPECT_EQ(count, 3);
}

}  // namespace
}  // namespace hourglass
