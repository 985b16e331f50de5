// SPDX-License-Identifier: Apache-2.0
// Selectors that look at the matrix layout, and nonzero.
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

TEST(RowSparse, SendsRowsThatHaveANonzero) {
  std::vector<float> values(12, 0.0F);
  values[3] = 1;
  values[5] = -2;
  values[10] = 1e-30F;
  EXPECT_EQ(decoded(compressor_of("row_sparse", 12, 3)->compress(values, 0), 12), values);
  EXPECT_EQ(compressor_of("row_sparse", 12, 3)->compress(values, 0).count, 3U);
  auto largest = values;
  largest[10] = 0;
  EXPECT_EQ(decoded(compressor_of("row_sparse ratio=0.25", 12, 3)->compress(values, 0), 12), largest) << "one row of four";
  EXPECT_EQ(decoded(compressor_of("row_sparse ratio=0.5", 12, 3)->compress(values, 0), 12), values);
}

TEST(RowSparse, RowsOfLargestNormThenByOrder) {
  constexpr std::size_t kRows = 60, kColumns = 17;
  auto values = normal_vector(kRows * kColumns, 8);
  for (std::size_t i = 0; i < kColumns; ++i) values[30 * kColumns + i] = values[20 * kColumns + i];  // a tie
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t row = 0; row < kRows; ++row) {
    double squares = 0;
    for (std::size_t i = 0; i < kColumns; ++i) squares += double{values[row * kColumns + i]} * values[row * kColumns + i];
    if (row != 30) order.emplace_back(-squares, row);
  }
  std::sort(order.begin(), order.end());
  const auto tied = static_cast<std::size_t>(std::find_if(order.begin(), order.end(), [](const auto& each) { return each.second == 20; }) -
                                             order.begin());
  for (const std::size_t k : {1UL, 7UL, tied + 1, kRows / 2}) {
    const auto spec = "row_sparse ratio=" + std::to_string((static_cast<double>(k) - 0.5) / kRows);
    const auto out = decoded(compressor_of(spec, values.size(), kColumns)->compress(values, 0), values.size());
    std::set<std::size_t> expected;
    for (const auto& each : order) {
      expected.insert(each.second);
      if (each.second == 20 && expected.size() < k) expected.insert(30);
      if (expected.size() == k) break;
    }
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(out[i], expected.contains(i / kColumns) ? values[i] : 0) << spec << " " << i;
  }
}

TEST(RowSparse, VectorsGoInBlocks) {
  std::vector<float> values(1000, 1.0F);
  values[600] = 9;
  const auto sent = [&](const char* spec) {
    std::vector<std::size_t> out;
    const auto block = decoded(compressor_of(spec, values.size())->compress(values, 0), values.size());
    for (std::size_t i = 0; i < block.size(); ++i) {
      if (block[i] != 0) out.push_back(i);
    }
    return std::pair(out.front(), out.back());
  };
  EXPECT_EQ(sent("row_sparse ratio=0.1"), std::pair(512UL, 767UL));
  EXPECT_EQ(sent("row_sparse ratio=0.001 block=7"), std::pair(595UL, 601UL));
  values[999] = 99;
  EXPECT_EQ(sent("row_sparse ratio=0.1"), std::pair(768UL, 999UL)) << "the last one is shorter";
}

TEST(Nonzero, IsEverythingThatIsNotZero) {
  for (const auto& [name, values] : hard_vectors()) {
    SCOPED_TRACE(name);
    const auto block = compressor_of("nonzero", values.size())->compress(values, 0);
    EXPECT_EQ(block.count, static_cast<std::size_t>(std::count_if(values.begin(), values.end(), [](float v) { return v != 0; })));
    const auto out = decoded(block, values.size());
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(out[i], values[i]);
  }
}

}  // namespace
}  // namespace hourglass::compress::testing
