// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "learning/compress/neighborhood.h"

#include "tests/learning/compress/vectors.h"

namespace hourglass::compress::testing {
namespace {

/// Mean and deviation over the window as they are defined, in two passes.
double naive_score(std::span<const float> values, std::size_t rows, std::size_t columns, std::size_t size, std::size_t at) {
  const auto reach = static_cast<std::ptrdiff_t>(size / 2);
  const auto row = static_cast<std::ptrdiff_t>(at / columns), column = static_cast<std::ptrdiff_t>(at % columns);
  std::vector<double> window;
  for (std::ptrdiff_t y = row - reach; y <= row + reach; ++y) {
    for (std::ptrdiff_t x = column - reach; x <= column + reach; ++x) {
      if (y < 0 || x < 0 || y >= static_cast<std::ptrdiff_t>(rows) || x >= static_cast<std::ptrdiff_t>(columns)) continue;
      window.push_back(values[static_cast<std::size_t>(y) * columns + static_cast<std::size_t>(x)]);
    }
  }
  double mean = 0, variance = 0;
  for (const double value : window) mean += value / static_cast<double>(window.size());
  for (const double value : window) variance += (value - mean) * (value - mean) / static_cast<double>(window.size());
  return std::abs(mean) + std::sqrt(variance);
}

TEST(Neighborhood, BoxFilterIsTheNaiveOne) {
  for (const auto& [rows, columns] : {std::pair{1UL, 40UL}, {40UL, 1UL}, {13UL, 29UL}, {2UL, 2UL}, {1UL, 1UL}}) {
    for (const std::size_t size : {1UL, 3UL, 5UL, 15UL}) {
      auto values = normal_vector(rows * columns, rows + size);
      if (values.size() > 20) values[20] = 0;
      std::vector<float> scores(values.size());
      score_neighborhoods(values, {values.size(), columns}, size, scores);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double expected = values[i] == 0 ? 0 : naive_score(values, rows, columns, size, i);
        ASSERT_NEAR(scores[i], expected, 1e-6 * expected) << rows << "x" << columns << " size " << size << " at " << i;
      }
    }
  }
}

TEST(Neighborhood, OfOneEntryIsTopk) {
  for (const auto& [name, values] : hard_vectors()) {
    SCOPED_TRACE(name);
    const auto block = compressor_of("neighborhood ratio=0.01 size=1", values.size())->compress(values, 0);
    EXPECT_TRUE(equal(block, compressor_of("topk ratio=0.01", values.size())->compress(values, 0)));
  }
}

TEST(Neighborhood, PrefersARestlessPlaceToALonelyEntryOfTheSameSize) {
  constexpr std::size_t kColumns = 30;
  std::vector<float> values(kColumns * kColumns, 0.01F);
  values[5 * kColumns + 5] = 3;  // alone
  for (std::size_t y = 20; y < 23; ++y) {
    for (std::size_t x = 20; x < 23; ++x) values[y * kColumns + x] = (x + y) % 2 == 0 ? 2.0F : -2.0F;
  }
  const auto block = compressor_of("neighborhood ratio=0.001", values.size(), kColumns)->compress(values, 0);
  EXPECT_EQ(block.count, 1U);
  EXPECT_NE(decoded(block, values.size())[21 * kColumns + 21], 0);
  // Of a vector the same entries are neighbours along one row only.
  EXPECT_NE(decoded(compressor_of("topk ratio=0.001", values.size())->compress(values, 0), values.size())[5 * kColumns + 5], 0);
}

TEST(Neighborhood, SendsKWhereThereAreK) {
  for (const auto& [name, values] : hard_vectors()) {
    const auto nonzero = static_cast<std::size_t>(std::count_if(values.begin(), values.end(), [](float v) { return v != 0; }));
    const auto k = static_cast<std::size_t>(std::max(1.0, std::ceil(0.05 * static_cast<double>(values.size()) * (1 - 1e-12))));
    EXPECT_EQ(compressor_of("neighborhood ratio=0.05 size=5", values.size())->compress(values, 0).count, std::min(k, nonzero)) << name;
  }
  EXPECT_FALSE(try_compressor("neighborhood size=2").ok());
  EXPECT_FALSE(try_compressor("neighborhood size=17").ok());
}

}  // namespace
}  // namespace hourglass::compress::testing
