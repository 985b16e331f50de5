// SPDX-License-Identifier: Apache-2.0
// What an aggregator's memory and descriptors allow, and more processes than processors.
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/resource.h>

#include <fstream>
#include <iostream>
#include <sstream>

#include "tests/integration/roles.h"

namespace hourglass::integration {
namespace {

using nlohmann::json;

constexpr double kMegabyte = 1e6;
/// 0.95 million parameters: 3.8 MB.
const std::string kLarge = "flatten | fc 1200 | relu | fc";
constexpr double kLargeMegabytes = 3.82;

/// A line of /proc/PID/status, such as "VmHWM", in MB.
double memory(pid_t process, const std::string& name) {
  std::ifstream file("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name + ":")) return std::stod(line.substr(name.size() + 1)) * 1024 / kMegabyte;
  }
  return 0;
}

bool is_stopped(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::ostringstream text;
  text << file.rdbuf();
  const std::size_t bracket = text.str().rfind(')');
  return bracket != std::string::npos && text.str().substr(bracket + 2, 1) == "T";
}

TEST(Limits, M1_AMemberThatDoesNotReadCostsTheAggregatorNoMoreThanItsCredit) {
  Roles roles("not_reading", {"--model", kLarge, "--conv-workers", "3", "--staleness", "unlimited", "--samples", "100000000",
                              "--dead-after", "600", "--credit", "16777216", "--checkpoint-every", "0"});
  roles.start_aggregator();
  const auto loader = roles.join("data-loader"), one = roles.join("conv-worker"), two = roles.join("conv-worker"),
             deaf = roles.join("conv-worker");
  ASSERT_TRUE(eventually([&] { return roles.status().value("conv_workers", 0) == 3 && roles.samples() > 32 * 60; }))
      << roles.aggregator().errors();
  const double before = memory(roles.aggregator().id(), "VmHWM");
  ASSERT_GT(before, 2 * kLargeMegabytes);
  deaf->signal(SIGSTOP);
  ASSERT_TRUE(eventually([&] { return is_stopped(deaf->id()); }));
  constexpr double kUpdates = 60;
  ASSERT_TRUE(roles.goes_on(static_cast<std::uint64_t>(32 * kUpdates))) << "the others go on: " << roles.aggregator().errors();
  EXPECT_TRUE(is_stopped(deaf->id()));
  const double grown = memory(roles.aggregator().id(), "VmHWM") - before;
  std::cout << before << " MB, grown by " << grown << " MB while " << kUpdates * kLargeMegabytes << " MB of updates were made\n";
  // Who does not push is owed one update, not each; beyond that the credit, and eight messages that ZeroMQ holds for one connection.
  EXPECT_LT(grown, 17 + 9 * kLargeMegabytes);
  deaf->signal(SIGCONT);
  ASSERT_TRUE(roles.goes_on(320));
  EXPECT_EQ(roles.aggregator().errors().find("member lost"), std::string::npos) << "it was slow, and is not dropped";
  roles.aggregator().signal(SIGTERM);
  EXPECT_EQ(roles.aggregator().wait(60), 0) << roles.aggregator().errors();
  for (const auto& member : {&loader, &one, &two, &deaf}) EXPECT_EQ((*member)->wait(60), 0) << (*member)->errors();
}

TEST(Limits, M8_FourteenMoreWorkersCostTheAggregatorLessThanAModelEach) {
  Roles roles("many", {"--model", kLarge, "--conv-workers", "2", "--staleness", "unlimited", "--samples", "100000000", "--dead-after", "60",
                       "--compress", "topk ratio=0.01 | two_level | rice", "--downlink", "topk ratio=0.01 | two_level | rice",
                       "--checkpoint-every", "0"});
  roles.start_aggregator();
  const auto loader = roles.join("data-loader");
  std::vector<std::unique_ptr<Program>> workers;
  for (int i = 0; i < 2; ++i) workers.push_back(roles.join("conv-worker"));
  const auto at_work = [&] {
    for (const auto& worker : workers) {
      if (worker->errors().find(": at work") == std::string::npos) return false;
    }
    return true;
  };
  ASSERT_TRUE(eventually([&] { return at_work() && roles.samples() > 3200; })) << roles.aggregator().errors();
  const double before = memory(roles.aggregator().id(), "VmHWM");
  ASSERT_GT(before, kLargeMegabytes);
  for (int i = 0; i < 14; ++i) workers.push_back(roles.join("conv-worker"));
  ASSERT_TRUE(eventually(at_work)) << roles.aggregator().errors();
  ASSERT_TRUE(roles.goes_on(32 * 16)) << roles.aggregator().errors();
  EXPECT_EQ(roles.status()["conv_workers"], 16);
  const double grown = memory(roles.aggregator().id(), "VmHWM") - before;
  std::cout << before << " MB, " << grown / 14 << " MB more for each of 14 workers; a model has " << kLargeMegabytes << " MB\n";
  EXPECT_LT(grown, 14 * kLargeMegabytes);
}

TEST(Limits, S10_SixWorkersAndAllTheOthersOnOneMachineFinish) {
  const std::string folder = fresh_folder("six");
  Program program(HOURGLASS_PROGRAM,
                  {"train", "--dataset", "synthetic", "--model", "lenet5", "--batch", "32", "--conv-workers", "6", "--samples", "20000",
                   "--run-dir", folder + "/run", "--json", "--monitor-port", "0"},
                  folder);
  ASSERT_TRUE(eventually([&] { return samples_done(folder + "/run") > 0; })) << program.errors();
  EXPECT_EQ(children(program.id()).size(), 10U) << "6, an FC worker, a data loader, the aggregator, a monitor";
  ASSERT_EQ(program.wait(300), 0) << program.errors();
  const json result = json::parse(program.output());
  EXPECT_EQ(result["status"], "finished");
  EXPECT_EQ(result["samples"], 20000);
  EXPECT_EQ(result["conv_workers"], 6);
  EXPECT_GT(result["accuracy"].get<double>(), 0.5);
  EXPECT_EQ(program.errors().find("ended with"), std::string::npos) << program.errors();
}

TEST(Limits, S13_WithoutDescriptorsForEverybodyThoseWhoAreInGoOnAndTheLimitIsNamed) {
  Roles roles("descriptors", {"--model", "lenet5", "--conv-workers", "20", "--staleness", "unlimited", "--samples", "100000000",
                              "--start-timeout", "2", "--checkpoint-every", "0", "--log-format", "text"});
  roles.start_aggregator({"/bin/sh", "-c", "ulimit -n 40 && exec \"$@\"", "sh"});
  const auto loader = roles.join("data-loader");
  ASSERT_TRUE(eventually([&] { return loader->errors().find("joined") != std::string::npos; })) << loader->errors();
  std::vector<std::unique_ptr<Program>> workers;
  for (int i = 0; i < 20; ++i) workers.push_back(roles.join("conv-worker"));
  const auto log = [&] { return roles.aggregator().errors(); };
  EXPECT_TRUE(eventually([&] { return log().find("no file descriptors left: nobody else can connect") != std::string::npos; })) << log();
  EXPECT_NE(log().find("this job needs about 84 open files, and the limit is 40"), std::string::npos) << log();
  EXPECT_NE(log().find("40 open files are the limit"), std::string::npos) << log();
  const auto in = [&] { return times(log(), "member joined peer=conv-worker"); };
  EXPECT_GT(in(), 0U) << log();
  EXPECT_LT(in(), 20U) << "the fault did not happen";
  // Nobody can open a file any more, status.json neither; the log tells that training goes on.
  const auto evaluations = [&] { return times(log(), "evaluated samples="); };
  const std::size_t before = evaluations();
  EXPECT_TRUE(eventually([&] { return evaluations() >= before + 3; })) << log();
  for (const auto& worker : workers) EXPECT_EQ(kill(worker->id(), 0), 0) << "nobody died of it: " << worker->errors();
}

}  // namespace
}  // namespace hourglass::integration
