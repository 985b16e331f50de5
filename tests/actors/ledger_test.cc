// SPDX-License-Identifier: Apache-2.0
#include "actors/ledger.h"

#include <gtest/gtest.h>

namespace hourglass {
namespace {

TEST(Ledger, CountsStalenessInRangesThatDouble) {
  Ledger ledger;
  for (const std::uint64_t staleness : {0U, 0U, 1U, 2U, 3U, 4U, 7U, 8U}) {
    ledger.note(staleness);
    ++ledger.by_verdict[static_cast<std::size_t>(Verdict::applied)];
  }
  EXPECT_EQ(ledger.staleness_counts, (std::vector<std::uint64_t>{2, 1, 2, 2, 1}));
  EXPECT_EQ(ledger.staleness_max, 8U);
  EXPECT_DOUBLE_EQ(ledger.staleness_mean(), 25.0 / 8);
}

}  // namespace
}  // namespace hourglass
