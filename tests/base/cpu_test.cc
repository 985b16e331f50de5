// SPDX-License-Identifier: Apache-2.0
#include "base/cpu.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace hourglass {
namespace {

TEST(CpuDeathTest, TheBaselineCanBeForced) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // the answer is kept: a fresh process asks anew
  const auto forced = [] {
    setenv("HOURGLASS_BASELINE", "1", 1);
    std::_Exit(has_x86_64_v3() ? 1 : 0);
  };
  EXPECT_EXIT(forced(), testing::ExitedWithCode(0), "");
}

TEST(Cpu, TheAnswerDoesNotChange) {
  const bool first = has_x86_64_v3();
  setenv("HOURGLASS_BASELINE", first ? "1" : "0", 1);
  EXPECT_EQ(has_x86_64_v3(), first);
  unsetenv("HOURGLASS_BASELINE");
}

}  // namespace
}  // namespace hourglass
