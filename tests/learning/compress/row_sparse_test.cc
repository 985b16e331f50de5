// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/learning/compress/vectors.h"

namespace hourglass::compress::testing {
namespace {

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

}  // namespace
}  // namespace hourglass::compress::testing
