// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "actors/command_post.h"
#include "messages/codec.h"
#include "tests/actors/monitor_bench.h"

namespace hourglass {
namespace {
using namespace std::chrono_literals;

class Given final : public CommandSource {
 public:
  std::deque<AskedCommand> take_commands() override { return std::exchange(waiting, {}); }
  void give(Order order) { waiting.push_back({++given, order}); }
  std::deque<AskedCommand> waiting;
  std::uint64_t given = 0;
};

class CommandPostTest : public ::testing::Test {
 protected:
  CommandPostTest() : bench_(&sink_), post_(&given_) {}
  void pass(Duration time, bool joined = true) {
    for (Duration each{}; each < time; each += 200ms) {
      bench_.advance(200ms);
      (void)post_.look(bench_, 3, joined);
    }
  }
  [[nodiscard]] std::vector<RunCommand> sent() const { return bench_.sent<RunCommand>(); }
  [[nodiscard]] const CommandState& newest() const { return post_.states()->back(); }

  Given given_;
  LastState sink_;
  MonitorBench bench_;
  CommandPost post_;
};

TEST_F(CommandPostTest, RepeatsUntilItIsAnsweredAndSendsOneAfterTheOther) {
  given_.give(Order::pause);
  given_.give(Order::checkpoint);
  pass(3s);
  ASSERT_GE(sent().size(), 2U);
  for (const RunCommand& command : sent()) {
    EXPECT_EQ(command.sequence, 1U);
    EXPECT_EQ(command.generation, 3U);
    EXPECT_EQ(command.order, Order::pause);
  }
  EXPECT_FALSE(post_.on({2, true, ""})) << "it has not been sent";
  EXPECT_TRUE(post_.on({1, true, ""}));
  EXPECT_FALSE(post_.on({1, false, "again"})) << "the answer to a repeat";
  EXPECT_EQ(post_.states()->front().fate, CommandFate::done);
  pass(1s);
  EXPECT_EQ(sent().back().sequence, 2U);
  EXPECT_TRUE(post_.on({2, false, "no"}));
  EXPECT_EQ(newest().fate, CommandFate::refused);
  EXPECT_EQ(newest().text, "no");
}

TEST_F(CommandPostTest, TakesNoMoreUntilWhatItHasIsSettledSoThatNoneIsLost) {
  given_.give(Order::pause);
  pass(1s);
  for (int i = 0; i < 100; ++i) given_.give(Order::checkpoint);
  pass(5s);
  EXPECT_EQ(post_.states()->size(), 1U);
  EXPECT_EQ(given_.waiting.size(), 100U) << "whoever gives them sees that they are not taken";
  EXPECT_TRUE(post_.on({1, true, ""}));
  for (std::uint64_t i = 2; i <= 101; ++i) {
    pass(1s);
    EXPECT_TRUE(post_.on({i, true, ""})) << i;
  }
  pass(1s);
  EXPECT_EQ(post_.states()->size(), CommandPost::kKept);
}

TEST_F(CommandPostTest, SaysSoWhereNobodyAnswers) {
  given_.give(Order::stop);
  pass(20s, false);
  EXPECT_TRUE(sent().empty()) << "it is no member";
  EXPECT_EQ(newest().fate, CommandFate::sent);
  pass(12s, false);
  EXPECT_EQ(newest().fate, CommandFate::unanswered);
}

TEST_F(CommandPostTest, KeepsTheNewest) {
  for (std::size_t i = 0; i < 3 * CommandPost::kKept; ++i) {
    given_.give(Order::checkpoint);
    pass(1s);
    (void)post_.on({given_.given, true, ""});
  }
  EXPECT_EQ(post_.states()->size(), CommandPost::kKept);
  EXPECT_EQ(newest().asked.sequence, 3 * CommandPost::kKept);
}

}  // namespace
}  // namespace hourglass
