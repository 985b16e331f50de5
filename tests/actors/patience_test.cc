// SPDX-License-Identifier: Apache-2.0
#include "actors/patience.h"

#include <gtest/gtest.h>

namespace hourglass {
namespace {
using namespace std::chrono_literals;

TEST(Patience, FollowsAnswersAndGrowsInVain) {
  Patience patience(60s);
  EXPECT_EQ(patience.limit(), 3s);
  patience.answered(10ms);
  EXPECT_EQ(patience.limit(), 3s) << "never less";
  patience.answered(7s);
  EXPECT_EQ(patience.limit(), 14s);
  patience.in_vain();
  EXPECT_EQ(patience.limit(), 28s);
  for (int i = 0; i < 10; ++i) patience.in_vain();
  EXPECT_EQ(patience.limit(), 60s);
  patience.answered(1s);
  EXPECT_EQ(patience.limit(), 3s);
}

TEST(LargeUpdate, IsUnderWayUntilItArrivesOrTakesTooLong) {
  LargeUpdate update;
  const Instant t0{};
  EXPECT_FALSE(update.under_way(t0));
  update.sent(t0, 5, 1000);
  EXPECT_FALSE(update.under_way(t0)) << "a small one";
  update.sent(t0, 5, LargeUpdate::kLarge);
  EXPECT_TRUE(update.under_way(t0 + 2s));
  update.arrived(t0 + 2s, 4);
  EXPECT_TRUE(update.under_way(t0 + 2s)) << "an earlier version";
  EXPECT_FALSE(update.under_way(t0 + 4s)) << "lost";
  update.sent(t0 + 4s, 5, LargeUpdate::kLarge);
  EXPECT_TRUE(update.under_way(t0 + 9s)) << "more patience now";
  update.arrived(t0 + 14s, 6);
  EXPECT_FALSE(update.under_way(t0 + 14s));
  update.sent(t0 + 20s, 7, LargeUpdate::kLarge);
  EXPECT_TRUE(update.under_way(t0 + 39s)) << "twice what the last one took";
  EXPECT_FALSE(update.under_way(t0 + 41s));
}

}  // namespace
}  // namespace hourglass
