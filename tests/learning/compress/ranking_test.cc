// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "learning/compress/ranking.h"

#include "tests/learning/compress/vectors.h"

namespace hourglass::compress::testing {
namespace {

TEST(Ranking, ChoosesExactlyK) {
  Ranking ranking;
  Entries best;
  for (const std::size_t length : {1UL, 17UL, 4096UL, 100000UL}) {
    auto scores = normal_vector(length, length);
    for (float& score : scores) score = std::abs(score) + 1;
    for (const std::size_t k : {0UL, 1UL, length / 100, length / 3, length - 1, length}) {
      ranking.choose(scores, k, best);
      ASSERT_EQ(best.indices.size(), k) << length;
      ASSERT_TRUE(std::is_sorted(best.indices.begin(), best.indices.end()));
      auto sorted = scores;
      std::sort(sorted.begin(), sorted.end(), std::greater<>());
      for (const float score : best.values) ASSERT_GE(score, sorted[k - 1]) << length << " " << k;
    }
  }
}

TEST(Ranking, BudgetIsTheCeilingForgivingTheLastBit) {
  EXPECT_EQ(budget_of(0.07, 100), 7U);
  EXPECT_EQ(budget_of(0.071, 100), 8U);
  EXPECT_EQ(budget_of(1e-9, 100), 1U);
  EXPECT_EQ(budget_of(1, 100), 100U);
  EXPECT_EQ(budget_of(0.5, 0), 0U);
}

TEST(Ranking, ScoresAreFiniteAndZeroOnlyWhereTheValueIs) {
  EXPECT_EQ(score_for(0, 5), 0);
  EXPECT_EQ(score_for(1, 0), FLT_TRUE_MIN);
  EXPECT_EQ(score_for(1, 1e300), FLT_MAX);
  EXPECT_EQ(score_for(-1, 2.5), 2.5F);
}

}  // namespace
}  // namespace hourglass::compress::testing
