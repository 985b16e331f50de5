// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace hourglass {
namespace {

/// xoshiro256** and splitmix64 written a second time, straight from their papers, to compare with.
struct Reference {
  std::array<std::uint64_t, 4> s{};
  explicit Reference(std::uint64_t seed) {
    for (auto& word : s) {
      seed += 0x9e3779b97f4a7c15ULL;
      std::uint64_t z = seed;
      z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
      z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
      word = z ^ z >> 31;
    }
  }
  static std::uint64_t turn(std::uint64_t x, int k) { return x << k | x >> (64 - k); }
  std::uint64_t operator()() {
    const std::uint64_t result = turn(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0], s[3] ^= s[1], s[1] ^= s[2], s[0] ^= s[3], s[2] ^= t, s[3] = turn(s[3], 45);
    return result;
  }
};

TEST(Random, IsXoshiro256StarStar) {
  for (const std::uint64_t seed : {0ULL, 1ULL, 42ULL, ~0ULL}) {
    Random random(seed);
    Reference reference(seed);
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(random.next(), reference()) << seed << " " << i;
  }
}

TEST(Random, TheFirstNumbersNeverChange) {
  Random random(0);
  EXPECT_EQ(random.next(), 0x99ec5f36cb75f2b4ULL);
  EXPECT_EQ(random.next(), 0xbf6e1f784956452aULL);
}

TEST(Random, BelowIsUniform) {
  Random random(3);
  constexpr int kDraws = 60000;
  for (const std::uint64_t limit : {2ULL, 3ULL, 7ULL, 10ULL, 16ULL}) {
    std::vector<int> counts(limit);
    for (int i = 0; i < kDraws; ++i) ++counts.at(random.below(limit));
    const double expected = static_cast<double>(kDraws) / static_cast<double>(limit);
    double chi_square = 0;
    for (const int count : counts) chi_square += (count - expected) * (count - expected) / expected;
    const double freedom = static_cast<double>(limit) - 1;
    EXPECT_LT(chi_square, freedom + 5 * std::sqrt(2 * freedom)) << limit;  // five standard deviations, of a fixed seed
  }
}

TEST(Random, BelowIsUnbiasedWhereTheRemainderIsLarge) {
  Random random(4);
  const std::uint64_t limit = 3ULL << 62;  // plain remainders would fall below a quarter of 2^64 half the time
  int low = 0;
  for (int i = 0; i < 30000; ++i) {
    const std::uint64_t draw = random.below(limit);
    ASSERT_LT(draw, limit);
    low += draw < (1ULL << 62) ? 1 : 0;
  }
  EXPECT_NEAR(low, 10000, 410);
}

TEST(Random, BelowOneIsZero) {
  Random random(5);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(random.below(1), 0U);
}

TEST(RandomDeathTest, BelowZeroIsOurError) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(Random(1).below(0), "positive limit");
}

TEST(Random, UniformNumbersFillTheirInterval) {
  Random random(6);
  double sum = 0, square = 0, lowest = 1, highest = 0;
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.uniform();
    ASSERT_TRUE(x >= 0 && x < 1);
    sum += x, square += x * x;
    lowest = std::min(lowest, x), highest = std::max(highest, x);
    const float y = random.uniform_float();
    ASSERT_TRUE(y >= 0 && y < 1);
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 0.005);
  EXPECT_NEAR(square / kDraws, 1.0 / 3, 0.005);
  EXPECT_LT(lowest, 1e-3);
  EXPECT_GT(highest, 1 - 1e-3);
}

TEST(Random, NormalNumbersHaveTheirMoments) {
  Random random(7);
  double sum = 0, square = 0, fourth = 0;
  int beyond = 0;
  constexpr int kDraws = 200000;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.normal();
    sum += x, square += x * x, fourth += x * x * x * x;
    beyond += std::abs(x) > 1.959964 ? 1 : 0;
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.012);
  EXPECT_NEAR(square / kDraws, 1, 0.017);
  EXPECT_NEAR(fourth / kDraws, 3, 0.12);
  EXPECT_NEAR(static_cast<double>(beyond) / kDraws, 0.05, 0.0025);
}

TEST(Random, ForksAreIndependentAndDoNotAdvance) {
  Random parent(8), twin(8);
  Random a = parent.fork("data"), again = parent.fork("data"), b = parent.fork("weights");
  EXPECT_EQ(parent.next(), twin.next());
  int equal = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t drawn = a.next();
    ASSERT_EQ(drawn, again.next());
    const std::uint64_t other = b.next();
    equal += drawn == other || drawn == parent.next() ? 1 : 0;
  }
  EXPECT_EQ(equal, 0);
}

TEST(Random, GoesOnFromASavedState) {
  Random first(3);
  (void)first.normal();  // leaves a spare
  const Random::State state = first.state();
  Random second(77);
  EXPECT_NE(second.state(), state);
  second.resume(state);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(first.normal(), second.normal());
    EXPECT_EQ(first.next(), second.next());
  }
}

TEST(Random, ShufflesKeepEveryItemAndReachEveryOrder) {
  Random random(9);
  std::array<int, 24> seen{};
  for (int i = 0; i < 24000; ++i) {
    std::vector<int> items = {0, 1, 2, 3};
    random.shuffle(items);
    int rank = 0;
    std::vector<int> left = {0, 1, 2, 3};
    for (const int item : items) {
      const auto at = std::find(left.begin(), left.end(), item);
      ASSERT_NE(at, left.end());
      rank = rank * static_cast<int>(left.size()) + static_cast<int>(at - left.begin());
      left.erase(at);
    }
    ++seen.at(static_cast<std::size_t>(rank));
  }
  for (const int count : seen) EXPECT_NEAR(count, 1000, 160);
  std::vector<int> nothing;
  random.shuffle(nothing);
  EXPECT_TRUE(nothing.empty());
}

}  // namespace
}  // namespace hourglass
