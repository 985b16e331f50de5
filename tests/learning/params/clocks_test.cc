// SPDX-License-Identifier: Apache-2.0
#include "learning/params/clocks.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"

namespace hourglass::params {
namespace {

ActorId worker(std::uint32_t index) { return {Role::conv_worker, index}; }

TEST(StalenessBound, AdmitsUpToSlackAheadOfTheSlowest) {
  const StalenessBound bound{2};
  EXPECT_TRUE(bound.admits(5, 3));
  EXPECT_FALSE(bound.admits(6, 3));
  EXPECT_TRUE(StalenessBound{}.admits(1'000'000, 0));
}

TEST(StalenessBound, VersionsBetweenReadAndApply) {
  EXPECT_EQ(StalenessBound{0}.versions(4), 3U);
  EXPECT_EQ(StalenessBound{2}.versions(3), 10U);
  EXPECT_EQ(StalenessBound{2}.versions(1), 0U);
  EXPECT_EQ(StalenessBound{}.versions(3), std::nullopt);
}

TEST(ClockTable, AGrantReachesBeyondTheBoundButNotBeyondItsRange) {
  ClockTable clocks(StalenessBound{1});
  clocks.join(worker(1));
  clocks.join(worker(2));
  clocks.advance(worker(1));
  clocks.advance(worker(1));
  EXPECT_EQ(clocks.slowest_member(), worker(2));
  EXPECT_TRUE(clocks.fastest(worker(1)));
  EXPECT_FALSE(clocks.fastest(worker(2)));
  EXPECT_FALSE(clocks.admits_next(worker(1)));
  clocks.grant(worker(1), 0, 3);
  EXPECT_FALSE(clocks.admits_next(worker(1)));
  EXPECT_EQ(clocks.admitted(worker(1)), 1U);
  clocks.grant(worker(1), 2, 3);
  EXPECT_EQ(clocks.admitted(worker(1)), 3U);
  clocks.advance(worker(1));
  clocks.advance(worker(1));
  EXPECT_FALSE(clocks.admits_next(worker(1)));
  clocks.grant(worker(1), 100, 3);  // s + range = 4 ahead of the slowest, no more
  EXPECT_EQ(clocks.admitted(worker(1)), 4U);
  clocks.advance(worker(1));
  clocks.grant(worker(1), 100, 3);
  EXPECT_FALSE(clocks.admits_next(worker(1)));
  clocks.advance(worker(2));
  EXPECT_FALSE(clocks.admits_next(worker(1)));
}

TEST(ClockTable, BulkSynchronousAdmitsOneUnitForEverybody) {
  ClockTable clocks(StalenessBound{0});
  clocks.join(worker(1));
  clocks.join(worker(2));
  EXPECT_EQ(clocks.admitted(worker(1)), 0U);
  clocks.advance(worker(1));
  EXPECT_FALSE(clocks.admits_next(worker(1)));
  EXPECT_TRUE(clocks.admits_next(worker(2)));
  clocks.advance(worker(2));
  EXPECT_TRUE(clocks.admits_next(worker(1)));
  EXPECT_EQ(clocks.admitted(worker(1)), 1U);
}

TEST(ClockTable, JoinerStartsAtTheSlowestAndCountsItsOwnPushes) {
  ClockTable clocks(StalenessBound{1});
  clocks.join(worker(1));
  for (int i = 0; i < 7; ++i) clocks.advance(worker(1));
  clocks.join(worker(2));
  EXPECT_EQ(clocks.pace(worker(2)), 7U);
  EXPECT_EQ(clocks.pushed(worker(2)), 0U);
  EXPECT_EQ(clocks.admitted(worker(2)), 1U);  // its units 0 and 1 run at paces 7 and 8
  clocks.join(worker(2));
  EXPECT_EQ(clocks.pace(worker(2)), 7U);
}

TEST(ClockTable, IdleWorkerHoldsNobodyBackAndReturnsAtTheSlowest) {
  ClockTable clocks(StalenessBound{0});
  clocks.join(worker(1));
  clocks.join(worker(2));
  clocks.advance(worker(1));
  EXPECT_FALSE(clocks.admits_next(worker(1)));
  EXPECT_TRUE(clocks.set_active(worker(2), false));
  EXPECT_FALSE(clocks.set_active(worker(2), false));
  EXPECT_TRUE(clocks.admits_next(worker(1)));
  clocks.advance(worker(1));
  EXPECT_TRUE(clocks.set_active(worker(2), true));
  EXPECT_EQ(clocks.pace(worker(2)), 2U);
  EXPECT_EQ(clocks.active_max(), 2U);
}

TEST(ClockTable, LevellingReleasesTheFastestAndLeavesTheIdleAlone) {
  ClockTable clocks(StalenessBound{0});
  for (std::uint32_t w = 1; w <= 3; ++w) clocks.join(worker(w));
  clocks.set_active(worker(3), false);
  clocks.advance(worker(1));
  clocks.advance(worker(1));
  EXPECT_FALSE(clocks.admits_next(worker(1)));
  clocks.level();
  EXPECT_TRUE(clocks.admits_next(worker(1)));
  EXPECT_EQ(clocks.pace(worker(2)), 2U);
  EXPECT_EQ(clocks.pushed(worker(2)), 0U);
  EXPECT_EQ(clocks.pace(worker(3)), 0U);
}

TEST(ClockTable, WhoGoesIdleAfterItsPushStillSharesTheRound) {
  ClockTable clocks(StalenessBound{0});
  clocks.join(worker(1));
  clocks.join(worker(2));
  clocks.advance(worker(1));
  clocks.set_active(worker(1), false);
  EXPECT_EQ(clocks.sharing(worker(2)), 2U) << "the round's mean is over both";
  clocks.advance(worker(2));
  EXPECT_EQ(clocks.sharing(worker(2)), 1U) << "the next round is its own";
}

TEST(ClockTable, LeavingOfTheSlowestReleasesTheOthers) {
  ClockTable clocks(StalenessBound{3});
  clocks.join(worker(1));
  clocks.join(worker(2));
  for (int i = 0; i < 4; ++i) clocks.advance(worker(1));
  EXPECT_FALSE(clocks.admits_next(worker(1)));
  clocks.leave(worker(2));
  EXPECT_TRUE(clocks.admits_next(worker(1)));
}

TEST(ClockTable, UnlimitedNeverWaits) {
  ClockTable clocks(StalenessBound{});
  clocks.join(worker(1));
  clocks.join(worker(2));
  for (int i = 0; i < 1000; ++i) clocks.advance(worker(1));
  EXPECT_TRUE(clocks.admits_next(worker(1)));
  EXPECT_EQ(clocks.admitted(worker(1)), std::nullopt);
}

/// Property of the bound: a random schedule that obeys `admits_next` never sees more versions of others between read and apply than
/// (2s+1)(P-1), and the gap between fastest and slowest never exceeds s + 1 finished units.
TEST(ClockTable, RandomSchedulesKeepTheVersionBound) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    const std::uint64_t slack = random.below(4);
    const std::size_t workers = 2 + random.below(4);
    ClockTable clocks(StalenessBound{slack});
    std::vector<std::optional<std::uint64_t>> read(workers);  // version at the start of the unit under way
    std::vector<std::uint64_t> versions_of(workers, 0);
    for (std::uint32_t w = 0; w < workers; ++w) clocks.join(worker(w));
    std::uint64_t version = 0;
    for (int event = 0; event < 400; ++event) {
      const auto w = static_cast<std::uint32_t>(random.below(workers));
      if (!read[w]) {
        if (clocks.admits_next(worker(w))) read[w] = version;
        continue;
      }
      ASSERT_LE(version - *read[w], *clocks.bound().versions(workers)) << "seed " << seed;
      ++version;
      clocks.advance(worker(w));
      read[w].reset();
      ASSERT_LE(clocks.pace(worker(w)), clocks.slowest() + slack + 1) << "seed " << seed;
    }
    ASSERT_GT(version, 50U) << "the schedule must make progress";
  }
}

}  // namespace
}  // namespace hourglass::params
