// SPDX-License-Identifier: Apache-2.0
#include "base/time.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hourglass {
namespace {

TEST(Time, SecondsComeBack) {
  for (const double s : {0.0, 1.0, -2.5, 0.000000001, 86400.0}) EXPECT_DOUBLE_EQ(seconds(from_seconds(s)), s);
}

TEST(Time, AbsurdSecondsNeitherOverflowNorWrap) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double s : {1e10, 1e300, infinity}) {
    EXPECT_DOUBLE_EQ(seconds(from_seconds(s)), 3e9);
    EXPECT_DOUBLE_EQ(seconds(from_seconds(-s)), -3e9);
    EXPECT_GT(Instant{} + from_seconds(s) + from_seconds(s), Instant{});
  }
  EXPECT_EQ(from_seconds(std::nan("")), Duration::zero());
}

}  // namespace
}  // namespace hourglass
