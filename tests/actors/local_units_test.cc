// SPDX-License-Identifier: Apache-2.0
#include "actors/local_units.h"

#include <gtest/gtest.h>

namespace hourglass {
namespace {

TEST(LocalUnits, EachBatchIsAUnitWhereHIsOne) {
  LocalUnits units({1, 1});
  EXPECT_EQ(units.next(7), 7U);
  units.started();
  EXPECT_EQ(units.next(7), 8U);  // a second one, under way as well
  units.started();
  EXPECT_EQ(units.next(7), 9U);
  EXPECT_TRUE(units.learned());
  EXPECT_TRUE(units.complete());
  units.stepped();
  units.close();
  EXPECT_EQ(units.next(8), 9U);
  EXPECT_FALSE(units.begun());
}

TEST(LocalUnits, AUnitKeepsTheSizeThatItBeganWith) {
  LocalUnits units({2, 1});
  units.started();
  units.set({3, 1});
  units.started();
  EXPECT_EQ(units.next(0), 1U);
  for (int i = 0; i < 3; ++i) {
    units.started();
    EXPECT_EQ(units.next(0), i < 2 ? 1U : 2U);
  }
  for (const bool complete : {false, true}) {
    EXPECT_TRUE(units.learned());
    units.stepped();
    EXPECT_EQ(units.complete(), complete);
  }
  EXPECT_EQ(units.steps(), 2U);
  units.close();
  EXPECT_EQ(units.steps(), 3U);
  for (const bool complete : {false, false, true}) {
    EXPECT_TRUE(units.learned());
    units.stepped();
    EXPECT_EQ(units.complete(), complete);
  }
}

TEST(LocalUnits, AStepTakesSeveralBatches) {
  LocalUnits units({2, 3});
  for (int i = 0; i < 6; ++i) units.started();
  EXPECT_EQ(units.next(0), 1U);
  for (int step = 0; step < 2; ++step) {
    EXPECT_FALSE(units.learned());
    EXPECT_FALSE(units.learned());
    EXPECT_EQ(units.step_batches(), 2U);
    EXPECT_TRUE(units.learned());
    units.stepped();
    EXPECT_EQ(units.step_batches(), 0U);
  }
  EXPECT_TRUE(units.complete());
}

TEST(LocalUnits, AnIncompleteUnitIsClosedAsItIs) {
  LocalUnits units({4, 1});
  units.started();
  EXPECT_TRUE(units.learned());
  EXPECT_TRUE(units.begun());
  EXPECT_FALSE(units.complete());
  units.close();
  EXPECT_EQ(units.next(1), 1U);  // the next batch begins a new one
  units.started();
  EXPECT_EQ(units.next(1), 1U);
}

/// A push that could not be made uses up no clock: what is under way belongs to that clock's next attempt.
TEST(LocalUnits, AFailedPushShiftsTheOthers) {
  LocalUnits units({1, 1});
  units.started();
  units.started();
  EXPECT_TRUE(units.learned());
  units.close();
  EXPECT_EQ(units.next(0), 1U);  // the second batch is unit 0 now
}

TEST(LocalUnits, ADroppedBatchLeavesItsPlace) {
  LocalUnits units({2, 1});
  units.started();
  units.dropped();
  EXPECT_EQ(units.next(3), 3U);
  units.dropped();  // nothing to drop
  units.started();
  units.started();
  units.started();
  units.dropped();
  EXPECT_EQ(units.next(3), 4U);
  units.dropped();
  EXPECT_EQ(units.next(3), 3U);
}

}  // namespace
}  // namespace hourglass
