// SPDX-License-Identifier: Apache-2.0
#include "actors/round.h"

#include <gtest/gtest.h>

namespace hourglass {
namespace {

constexpr ActorId kOne{Role::conv_worker, 1}, kTwo{Role::conv_worker, 2}, kThree{Role::conv_worker, 3};

class Rounds : public testing::Test {
 protected:
  void came(ActorId from, std::uint64_t version) { here_.push_back(round_.came(from, version)); }
  /// Of `expected`; where all are here, a step takes what is here.
  bool complete(const std::vector<ActorId>& expected) {
    const bool whole = round_.complete(expected, here_);
    if (whole) here_.clear();
    return whole;
  }
  void split() { here_.clear(); }

  SynchronousRound round_;
  std::vector<SynchronousRound::Place> here_;
};

TEST_F(Rounds, ARoundWaitsForOneBatchOfEverybody) {
  came(kOne, 5);
  EXPECT_FALSE(complete({kOne, kTwo}));
  came(kTwo, 5);
  EXPECT_TRUE(complete({kOne, kTwo}));
  came(kOne, 6);
  EXPECT_FALSE(complete({kOne, kTwo})) << "the next round is a new one";
}

TEST_F(Rounds, BatchesOfOneVersionAreOneRoundAfterTheOther) {  // several local steps
  for (const int step : {0, 1, 2}) {
    came(kOne, 5);
    EXPECT_FALSE(complete({kOne, kTwo})) << step;
    came(kTwo, 5);
    EXPECT_TRUE(complete({kOne, kTwo})) << step;
  }
}

TEST_F(Rounds, TheRestOfASplitRoundNeedsOnlyTheRest) {
  came(kOne, 5);
  split();
  came(kTwo, 5);
  EXPECT_FALSE(complete({kOne, kTwo, kThree}));
  came(kThree, 5);
  EXPECT_TRUE(complete({kOne, kTwo, kThree}));
  came(kOne, 6);
  came(kTwo, 6);
  EXPECT_FALSE(complete({kOne, kTwo, kThree}));
}

TEST_F(Rounds, ALaterBatchOfAWorkerWaitsForTheOthersBatchesOfThatRound) {  // theirs of the split one were answered by an earlier FC worker
  came(kOne, 5);
  split();
  came(kTwo, 6);
  EXPECT_FALSE(complete({kOne, kTwo})) << "the first one's next batch comes once both have pushed";
  came(kOne, 6);
  EXPECT_TRUE(complete({kOne, kTwo}));
}

TEST_F(Rounds, AJoinerInARoundWhoseOtherBatchesWereTakenBeforeItCameIsNotKeptWaiting) {
  came(kOne, 5);
  ASSERT_TRUE(complete({kOne}));
  came(kTwo, 5);
  EXPECT_TRUE(complete({kOne, kTwo})) << "the first one sends nothing before the joiner has pushed";
  came(kOne, 6);
  EXPECT_FALSE(complete({kOne, kTwo}));
  came(kTwo, 6);
  EXPECT_TRUE(complete({kOne, kTwo}));
}

TEST_F(Rounds, OneThatIsGoneIsForgotten) {
  came(kOne, 5);
  came(kTwo, 5);
  ASSERT_TRUE(complete({kOne, kTwo}));
  round_.forget(kTwo);
  came(kOne, 5);
  EXPECT_FALSE(complete({kOne, kTwo})) << "it is back, and has sent nothing yet";
}

}  // namespace
}  // namespace hourglass
