// SPDX-License-Identifier: Apache-2.0
#include "actors/aggregator/command_book.h"

#include <gtest/gtest.h>

#include "tests/actors/monitor_bench.h"

namespace hourglass {
namespace {

constexpr ActorId kMonitor{Role::monitor, 9};

TEST(CommandBook, ARepeatedCommandIsAnsweredAgainAndNotCarriedOutAgain) {
  LastState sink;
  MonitorBench bench(&sink);
  CommandBook book;
  int carried_out = 0;
  std::string refusal;
  const auto carry_out = [&](Order) {
    ++carried_out;
    return refusal;
  };
  book.take(bench, kMonitor, {1, 1, Order::checkpoint}, carry_out);
  book.take(bench, kMonitor, {1, 1, Order::checkpoint}, carry_out);
  EXPECT_EQ(carried_out, 1);
  refusal = "not now";
  book.take(bench, kMonitor, {1, 2, Order::pause}, carry_out);
  book.take(bench, kMonitor, {1, 1, Order::checkpoint}, carry_out);
  EXPECT_EQ(carried_out, 2) << "an old one that came late";
  book.take(bench, {Role::monitor, 10}, {1, 1, Order::pause}, carry_out);
  EXPECT_EQ(carried_out, 3) << "each monitor counts its own";
  const auto replies = bench.sent<CommandReply>();
  ASSERT_EQ(replies.size(), 4U);
  EXPECT_TRUE(replies[0].accepted && replies[1].accepted);
  EXPECT_EQ(replies[1].sequence, 1U);
  EXPECT_FALSE(replies[2].accepted);
  EXPECT_EQ(replies[2].text, "not now");
  book.forget(kMonitor);
  book.take(bench, kMonitor, {1, 1, Order::pause}, carry_out);
  EXPECT_EQ(carried_out, 4) << "a monitor that joined again counts from 1";
}

}  // namespace
}  // namespace hourglass
