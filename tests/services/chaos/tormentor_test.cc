// SPDX-License-Identifier: Apache-2.0
// Strikes on real processes that do nothing, with a clock and a log of the test's.
#include "services/chaos/tormentor.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include <nlohmann/json.hpp>

#include "services/chaos/chaos_report.h"

namespace hourglass::chaos {
namespace {

class TormentorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "hourglass_tormentor_" + std::to_string(getpid());
    std::filesystem::create_directories(folder_);
    status_.phase = "training";
    status_.samples_total = 100;
    replace();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static NemesisPlan plan(Action action) {
    NemesisPlan out;
    out.seconds = 15;
    out.pauses = {10, 10};  // one strike
    out.roles = {Role::conv_worker, Role::tree_node};
    out.actions = {action};
    out.stop_seconds_max = 0.5;
    return out;
  }
  void replace() {
    auto child = ChildProcess::start({"/bin/sleep", {"100"}, {}, folder_ + "/log"});
    ASSERT_TRUE(child.ok());
    child_.emplace(std::move(*child));
  }
  void say(const std::string& line) { std::ofstream(folder_ + "/log", std::ios::app) << line << '\n'; }
  [[nodiscard]] std::vector<ChildView> view(Role role = Role::conv_worker) const {
    return {{role, std::string(name_of(role)) + "-1", child_ ? child_->id() : 0, false, folder_ + "/log", log_begin_}};
  }
  /// Waits for the real process.
  bool dies() {
    for (int i = 0; i < 1000 && !child_->poll(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return child_->poll().has_value();
  }

  std::string folder_;
  StatusReport status_;
  std::optional<ChildProcess> child_;
  std::uint64_t log_begin_ = 0;
};

TEST_F(TormentorTest, AKilledChildIsSeenDeadAndTimedUntilItsReplacementIsAtWork) {
  Tormentor tormentor(plan(Action::kill));
  tormentor.look(view(), status_, 1000);
  tormentor.look(view(), status_, 1009);
  EXPECT_TRUE(tormentor.blows().empty());
  tormentor.look(view(), status_, 1010);
  ASSERT_EQ(tormentor.blows().size(), 1U);
  EXPECT_FALSE(tormentor.blows()[0].seen);
  ASSERT_TRUE(dies());
  EXPECT_EQ(child_->poll()->number, SIGKILL);
  say("before: at work");
  log_begin_ = std::filesystem::file_size(folder_ + "/log");
  child_.reset();
  tormentor.look(view(), status_, 1011);
  EXPECT_TRUE(tormentor.blows()[0].seen);
  replace();
  tormentor.look(view(), status_, 1012);
  EXPECT_EQ(tormentor.blows()[0].recovery, Recovery::awaited);
  say("now conv-worker 3: at work clock=7");
  tormentor.look(view(), status_, 1012.5);
  EXPECT_EQ(tormentor.blows()[0].recovery, Recovery::at_work);
  EXPECT_EQ(tormentor.blows()[0].recovered_seconds, 2.5);
  EXPECT_TRUE(tormentor.losses().empty());
}

TEST_F(TormentorTest, AStoppedChildGoesOnAndMayHaveBeenGivenUp) {
  for (const bool given_up : {false, true}) {
    Tormentor tormentor(plan(Action::stop));
    tormentor.look(view(), status_, 0);
    tormentor.look(view(), status_, 10);
    ASSERT_EQ(tormentor.blows().size(), 1U);
    for (int i = 0; i < 1000 && !tormentor.blows()[0].seen; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      tormentor.look(view(), status_, 10.1);
    }
    EXPECT_TRUE(tormentor.blows()[0].seen);
    tormentor.look(view(), status_, 10.6);
    if (given_up) say("conv-worker 1: the aggregator no longer knows this process; joining again\nconv-worker 1: at work");
    tormentor.look(view(), status_, 11);
    tormentor.look(view(), status_, 20);
    EXPECT_EQ(tormentor.blows()[0].recovery, given_up ? Recovery::at_work : Recovery::kept_working);
    EXPECT_FALSE(child_->poll().has_value());
  }
}

TEST_F(TormentorTest, AnAggregatorIsKilledInsteadOfAskedToLeaveAndIsBackWhenItTrainsAgain) {
  NemesisPlan at_aggregator = plan(Action::term);
  at_aggregator.roles = {Role::aggregator};
  Tormentor tormentor(at_aggregator);
  tormentor.look(view(Role::aggregator), status_, 0);
  tormentor.look(view(Role::aggregator), status_, 10);
  ASSERT_EQ(tormentor.blows().size(), 1U);
  EXPECT_EQ(tormentor.blows()[0].action, Action::kill);
  ASSERT_TRUE(dies());
  EXPECT_EQ(child_->poll()->number, SIGKILL);
  child_.reset();
  tormentor.look(view(Role::aggregator), status_, 11);
  replace();
  status_.phase = "waiting";
  tormentor.look(view(Role::aggregator), status_, 12);
  EXPECT_EQ(tormentor.blows()[0].recovery, Recovery::awaited);
  status_.phase = "training";
  say("aggregator: phase phase=training");
  tormentor.look(view(Role::aggregator), status_, 13);
  EXPECT_EQ(tormentor.blows()[0].recovery, Recovery::at_work);
  EXPECT_EQ(tormentor.blows()[0].recovered_seconds, 3);
}

TEST_F(TormentorTest, WhoDiesByItselfIsALoss) {
  Tormentor tormentor(plan(Action::kill));
  tormentor.look(view(), status_, 0);
  child_->signal(SIGKILL);
  ASSERT_TRUE(dies());
  child_.reset();
  tormentor.look(view(), status_, 1);
  ASSERT_EQ(tormentor.losses().size(), 1U);
  EXPECT_EQ(tormentor.losses()[0].name, "conv-worker-1");
}

constexpr const char* kGood = R"({"status":"finished","samples":100,"replicas":{"compared":2,"differing":0},
  "ledger":{"received":9,"applied":7,"rejected":{"stale":1,"moved":1},"rolled_back":0}})";

std::string failed(const std::string& result, const Tormentor& tormentor) {
  std::string out;
  for (const Check& check : check_run(result, tormentor)) out += check.passed ? "" : check.name + " ";
  return out;
}

TEST_F(TormentorTest, EachCheckOfTheReportCanFail) {
  Tormentor tormentor(plan(Action::kill));
  tormentor.look(view(), status_, 0);
  EXPECT_EQ(failed(kGood, tormentor), "strikes ") << "nobody was struck";
  tormentor.look(view(), status_, 10);
  ASSERT_TRUE(dies());
  child_.reset();
  tormentor.look(view(), status_, 11);
  EXPECT_EQ(failed(kGood, tormentor), "");
  const auto changed = [](const char* pointer, const nlohmann::json& value) {
    auto object = nlohmann::json::parse(kGood);
    object[nlohmann::json::json_pointer(pointer)] = value;
    return object.dump();
  };
  EXPECT_EQ(failed(changed("/status", "stopped"), tormentor), "last_step ");
  EXPECT_EQ(failed(changed("/samples", 99), tormentor), "last_step ");
  EXPECT_EQ(failed(changed("/replicas/differing", 1), tormentor), "replicas ");
  EXPECT_EQ(failed(changed("/replicas/compared", 0), tormentor), "replicas ");
  EXPECT_EQ(failed(changed("/ledger/applied", 8), tormentor), "ledger ");
  EXPECT_EQ(failed("", tormentor), "result ");
  const auto checks = check_run(kGood, tormentor);
  const auto report = nlohmann::json::parse(compose_report(kGood, tormentor, checks));
  EXPECT_EQ(report["samples"], 100);
  EXPECT_TRUE(report["chaos"]["passed"].get<bool>());
  EXPECT_EQ(report["chaos"]["strikes"].size(), 1U);
  EXPECT_EQ(report["chaos"]["recoveries"][0]["role"], "conv-worker");
  EXPECT_FALSE(describe(tormentor, checks).empty());
}

}  // namespace
}  // namespace hourglass::chaos
