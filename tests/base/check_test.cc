// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"

#include <gtest/gtest.h>

namespace hourglass {
namespace {

TEST(CheckDeathTest, SaysWhereWhatAndWho) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto fail = [] {
    set_check_actor("conv-worker:0000002a");
    HG_CHECK(1 + 1 == 3, "sums do not add up");
  };
  EXPECT_DEATH(fail(), "check_test.cc:[0-9]+: check failed: 1 \\+ 1 == 3: sums do not add up \\(conv-worker:0000002a\\)");
}

TEST(Check, CostsItsTextOnlyWhenItFails) {
  int built = 0;
  const auto text = [&built] { return ++built, std::string("never needed"); };
  HG_CHECK(built == 0, text());
  EXPECT_EQ(built, 0);
}

}  // namespace
}  // namespace hourglass
