// SPDX-License-Identifier: Apache-2.0
#include "services/chaos/memory_watch.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace hourglass::chaos {
namespace {

constexpr double kMegabyte = 1U << 20;

TEST(MemoryWatch, SlopeIsThatOfTheLine) {
  EXPECT_EQ(slope_of({}), 0);
  EXPECT_EQ(slope_of({{1, 5}}), 0);
  EXPECT_NEAR(slope_of({{0, 100}, {1, 103}, {2, 106}, {3, 109}}), 3, 1e-9);
  EXPECT_NEAR(slope_of({{0, 7}, {1, 7}, {2, 7}}), 0, 1e-9);
}

TEST(MemoryWatch, ALeakGrowsAndAWarmUpDoesNot) {
  MemoryWatch watch;
  for (int second = 0; second <= 400; ++second) {
    watch.add("leaks", 1, second, 100 * kMegabyte + 0.3 * kMegabyte * second);
    watch.add("warms up", 2, second, second < 90 ? second * kMegabyte : 90 * kMegabyte);
    if (second < 30) watch.add("brief", 3, second, kMegabyte * second);
  }
  const auto rows = watch.rows();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].name, "leaks");
  EXPECT_TRUE(rows[0].grows());
  EXPECT_NEAR(rows[0].bytes_per_minute, 60 * 0.3 * kMegabyte, 1);
  EXPECT_GT(rows[0].last_bytes, rows[0].first_bytes);
  EXPECT_FALSE(rows[1].grows());
  MemoryRow brief = rows[0];
  brief.seconds = MemoryRow::kJudgedSecondsMin - 1;
  EXPECT_FALSE(brief.grows());
}

TEST(MemoryWatch, OfEachNameTheLongestLifeCounts) {
  MemoryWatch watch;
  for (int second = 0; second <= 70; ++second) watch.add("worker", 10, second, kMegabyte);
  for (int second = 0; second <= 170; ++second) watch.add("worker", 11, 71 + second, 2 * kMegabyte);
  for (int second = 0; second <= 80; ++second) watch.add("worker", 12, 300 + second, 3 * kMegabyte);
  const auto rows = watch.rows();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].process, 11);
  EXPECT_EQ(rows[0].seconds, 85);
}

TEST(MemoryWatch, ReadsThisProcess) {
  const auto bytes = resident_bytes(getpid());
  ASSERT_TRUE(bytes.has_value());
  EXPECT_GT(*bytes, 100'000);
  EXPECT_FALSE(resident_bytes(-1).has_value());
}

}  // namespace
}  // namespace hourglass::chaos
