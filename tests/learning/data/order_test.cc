// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "learning/data/dataset.h"

namespace hourglass::data {
namespace {

TEST(EpochOrder, IsAPermutation) {
  for (const std::size_t size : {0U, 1U, 2U, 1000U, 60'000U}) {
    std::vector<std::uint32_t> order = epoch_order(size, 7, 3);
    std::ranges::sort(order);
    std::vector<std::uint32_t> expected(size);
    std::iota(expected.begin(), expected.end(), 0U);
    EXPECT_EQ(order, expected);
  }
}

TEST(EpochOrder, DependsOnSeedAndEpochOnly) {
  const auto order = epoch_order(1000, 7, 3);
  EXPECT_EQ(order, epoch_order(1000, 7, 3));
  EXPECT_NE(order, epoch_order(1000, 7, 4));
  EXPECT_NE(order, epoch_order(1000, 8, 3));
}

TEST(EpochOrder, NeverChanges) { EXPECT_EQ(epoch_order(10, 1, 0), (std::vector<std::uint32_t>{5, 1, 7, 2, 9, 4, 0, 8, 3, 6})); }

/// Chi-squared over which of 8 samples stands first; 7 degrees of freedom exceed 30 with probability 1e-4, and the draws are fixed.
TEST(EpochOrder, EverySampleComesFirstEquallyOften) {
  std::vector<int> counts(8);
  constexpr int kEpochs = 8000;
  for (std::uint32_t epoch = 0; epoch < kEpochs; ++epoch) ++counts[epoch_order(8, 1, epoch)[0]];
  double chi = 0.0;
  for (const int count : counts) chi += (count - 1000.0) * (count - 1000.0) / 1000.0;
  EXPECT_LT(chi, 30.0);
}

TEST(Normalise, IsTheFormulaPerChannel) {
  constexpr std::size_t kPixels = 256;
  const std::vector<float> mean = {0.1F, 0.5F, 0.9F};
  const std::vector<float> deviation = {0.2F, 1.0F, 3.0F};
  Bytes images(2 * 3 * kPixels);
  for (std::size_t i = 0; i < images.size(); ++i) images[i] = static_cast<std::byte>(i * 5 + i / 256);
  std::vector<float> out(images.size());
  normalise(images, 3, kPixels, mean, deviation, out);
  for (std::size_t i = 0; i < images.size(); ++i) {
    const std::size_t channel = i / kPixels % 3;
    const double expected = (std::to_integer<int>(images[i]) / 255.0 - mean[channel]) / deviation[channel];
    ASSERT_NEAR(out[i], expected, 1e-6) << i;
  }
}

TEST(Normalise, NoSamplesGiveNothing) {
  const std::vector<float> one = {1.0F};
  std::vector<float> out;
  normalise({}, 1, 784, one, one, out);
  EXPECT_TRUE(out.empty());
}

TEST(NormaliseDeathTest, RefusesBrokenSamples) {
  const std::vector<float> one = {1.0F};
  const Bytes images(785);
  std::vector<float> out(785);
  EXPECT_DEATH(normalise(images, 1, 784, one, one, out), "whole samples");
}

}  // namespace
}  // namespace hourglass::data
