// SPDX-License-Identifier: Apache-2.0
#include "actors/round.h"

#include <gtest/gtest.h>

namespace hourglass {
namespace {

constexpr ActorId kOne{Role::conv_worker, 1}, kTwo{Role::conv_worker, 2}, kThree{Role::conv_worker, 3};

TEST(SynchronousRound, WaitsForOneBatchOfEverybody) {
  SynchronousRound round;
  EXPECT_FALSE(round.complete({kOne, kTwo}, {kOne}));
  EXPECT_TRUE(round.complete({kOne, kTwo}, {kTwo, kOne}));
  round.take({kOne, kTwo}, {kTwo, kOne});
  EXPECT_FALSE(round.complete({kOne, kTwo}, {kOne})) << "the next round is a new one";
}

TEST(SynchronousRound, TheRestOfASplitRoundNeedsOnlyTheRest) {
  SynchronousRound round;
  round.take({kOne, kTwo, kThree}, {kOne});
  EXPECT_FALSE(round.complete({kOne, kTwo, kThree}, {kTwo}));
  EXPECT_TRUE(round.complete({kOne, kTwo, kThree}, {kTwo, kThree}));
  round.take({kOne, kTwo, kThree}, {kTwo, kThree});
  EXPECT_FALSE(round.complete({kOne, kTwo, kThree}, {kOne, kTwo}));
}

TEST(SynchronousRound, ASecondBatchOfAWorkerEndsTheRound) {  // the others' were answered by an earlier FC worker, or by another one
  SynchronousRound round;
  round.take({kOne, kTwo}, {kOne});
  EXPECT_FALSE(round.complete({kOne, kTwo}, {kOne})) << "it waits for the other's batch of the new round";
  EXPECT_TRUE(round.complete({kOne, kTwo}, {kOne, kTwo}));
}

}  // namespace
}  // namespace hourglass
