// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/sensing.h"

#include <gtest/gtest.h>

#include "tests/learning/compress/hostile.h"

namespace hourglass::compress::testing {
namespace {

std::vector<float> sparse_normal(std::size_t length, std::size_t count, std::uint64_t seed) {
  std::vector<float> out(length, 0.0F);
  Random random(seed);
  for (std::size_t i = 0; i < count; ++i) out[random.below(length)] = static_cast<float>(random.normal());
  return out;
}

TEST(Sensing, MatrixIsOfSignsAndEachMeasurementIsItsOwn) {
  constexpr std::size_t kLength = 64;
  constexpr std::size_t kRows = 16;
  Sensing sensing(5, kLength, kRows);
  std::vector<std::vector<float>> columns;
  for (std::size_t i = 0; i < kLength; ++i) {
    std::vector<float> unit(kLength, 0.0F);
    unit[i] = 1;
    columns.emplace_back(kRows);
    sensing.measure(unit, columns.back());
    for (const float value : columns.back()) EXPECT_EQ(std::abs(value), 0.25F);
  }
  for (std::size_t a = 0; a < kRows; ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      double product = 0;
      for (const auto& column : columns) product += static_cast<double>(column[a]) * column[b];
      EXPECT_EQ(product, a == b ? 4.0 : 0.0);
    }
  }
}

TEST(Sensing, FindsSparseVectorsFromFewMeasurements) {
  double worst = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto x = sparse_normal(512, 16, seed);
    Sensing sensing(seed, 512, 160);
    std::vector<float> y(160);
    std::vector<float> out(512);
    sensing.measure(x, y);
    sensing.recover(y, 16, out);
    worst = std::max(worst, squared_error(x, out) / energy(x));
  }
  EXPECT_LT(worst, 1e-2);
}

TEST(Sensing, WhateverIsMeasuredTheAnswerIsSparseAndBounded) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    const std::size_t rows = 1 + random.below(256);
    const std::size_t sparsity = 1 + random.below(rows);
    Sensing sensing(seed, 256, rows);
    std::vector<float> y(rows);
    for (float& value : y) value = random.below(3) == 0 ? 2.7326364F : static_cast<float>(random.normal());
    std::vector<float> out(256);
    sensing.recover(y, sparsity, out);
    std::size_t count = 0;
    for (const float value : out) {
      ASSERT_TRUE(std::abs(value) <= std::sqrt(static_cast<float>(rows)));
      count += value != 0 ? 1 : 0;
    }
    ASSERT_LE(count, sparsity);
  }
}

TEST(Sensing, LargestAreInOrderTheEarlierOfEquals) {
  EXPECT_EQ(largest_of(std::vector<float>{1, -3, 2, 3, -2}, 3), (std::vector<std::uint32_t>{1, 2, 3}));
  EXPECT_EQ(largest_of(std::vector<float>{0, 0, 5, 0}, 3), (std::vector<std::uint32_t>{2}));
  EXPECT_EQ(largest_of(std::vector<float>{1, 2}, 9), (std::vector<std::uint32_t>{0, 1}));
  EXPECT_TRUE(largest_of(std::vector<float>{}, 3).empty());
}

}  // namespace
}  // namespace hourglass::compress::testing
