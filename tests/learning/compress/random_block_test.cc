// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/random_block.h"

#include <gtest/gtest.h>

#include "tests/learning/compress/selectors.h"

namespace hourglass::compress::testing {
namespace {

TEST(RandomBlock, IsContiguousAndOfTheRightLength) {
  for (const std::size_t length : {1UL, 10UL, 1001UL, 65537UL}) {
    for (const double ratio : {0.0007, 0.01, 0.3, 1.0}) {
      const auto selector = selector_of("random_block ratio=" + std::to_string(ratio));
      const std::vector<float> values(length, 1.0F);
      const std::size_t k = entries_at(ratio, length);
      const std::size_t blocks = (length + k - 1) / k;
      for (std::uint64_t step = 0; step < 20; ++step) {
        const auto places = selected(*selector, values, step).indices;
        ASSERT_FALSE(places.empty());
        EXPECT_EQ(places.back() - places.front() + 1, places.size());
        EXPECT_LE(places.size(), k);
        EXPECT_GE(places.size(), length / blocks);
      }
    }
  }
}

TEST(RandomBlock, ARoundCoversEveryEntryOnce) {
  for (const char* ratio : {"0.013", "0.01", "0.07", "0.5", "1"}) {
    const std::size_t length = 10007;
    const auto selector = selector_of(std::string("random_block seed=3 ratio=") + ratio);
    const std::vector<float> values(length, 1.0F);
    const std::size_t k = entries_at(std::stod(ratio), length);
    const std::size_t blocks = (length + k - 1) / k;
    for (std::uint64_t round = 0; round < 3; ++round) {
      std::vector<int> times(length, 0);
      for (std::uint64_t step = round * blocks; step < (round + 1) * blocks; ++step) {
        for (const std::uint32_t index : selected(*selector, values, step).indices) ++times[index];
      }
      EXPECT_EQ(std::count(times.begin(), times.end(), 1), static_cast<std::ptrdiff_t>(length)) << ratio << " in round " << round;
    }
  }
}

TEST(RandomBlock, EveryBlockIsEquallyLikelyAtAStep) {
  const std::vector<float> values(700, 1.0F);
  std::vector<int> times(7, 0);
  const int seeds = 14000;
  for (int seed = 0; seed < seeds; ++seed) {
    const auto selector = selector_of("random_block ratio=0.142858 seed=" + std::to_string(seed));
    ++times[selected(*selector, values, 3).indices.front() / 100];
  }
  for (const int count : times) EXPECT_NEAR(count, seeds / 7.0, 5 * std::sqrt(seeds / 7.0));
}

TEST(RandomBlock, AllWorkersChooseAlikeAtAStep) {
  const std::size_t length = 5000;
  const auto one = selector_of("random_block ratio=0.01 seed=7");
  const auto two = selector_of("random_block ratio=0.01 seed=7");
  const auto other = selector_of("random_block ratio=0.01 seed=8");
  int different = 0;
  for (std::uint64_t step = 0; step < 100; ++step) {
    const auto places = selected(*one, normal_vector(length, 1), step).indices;
    EXPECT_EQ(places, selected(*two, normal_vector(length, 2), step).indices);
    EXPECT_EQ(places, selected_of_sum(*two, normal_vector(length, 2), step).indices);
    different += static_cast<int>(places != selected(*other, normal_vector(length, 1), step).indices);
  }
  EXPECT_GT(different, 80);
}

TEST(RandomBlock, RefusesOptionsOutsideTheirRanges) {
  EXPECT_TRUE(refuses({"random_block ratio=0", "random_block ratio=2", "random_block seed=x", "random_block length=5"}));
}

}  // namespace
}  // namespace hourglass::compress::testing
