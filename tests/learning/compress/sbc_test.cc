// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/sbc.h"

#include <gtest/gtest.h>

#include "tests/learning/compress/selectors.h"

namespace hourglass::compress::testing {
namespace {

/// By the definition.
std::vector<std::uint32_t> oracle(std::span<const float> values, std::size_t k) {
  std::vector<std::uint32_t> sides[2];
  double means[2] = {0, 0};
  for (int side = 0; side < 2; ++side) {
    std::vector<float> one(values.begin(), values.end());
    for (float& value : one) value = std::signbit(value) == (side == 1) ? value : 0.0F;
    sides[side] = largest_of(one, k);
    for (const std::uint32_t index : sides[side]) means[side] += std::abs(static_cast<double>(values[index]));
    if (!sides[side].empty()) means[side] /= static_cast<double>(sides[side].size());
  }
  return means[0] >= means[1] ? sides[0] : sides[1];
}

void expect_exact(Selector& selector, std::span<const float> values, std::size_t k) {
  const auto expected = oracle(values, k);
  const Entries sent = selected(selector, values);
  ASSERT_EQ(sent.indices, expected);
  ASSERT_TRUE(are_entries_of(sent, values));
}

TEST(Sbc, SendsTheSideOfTheLargerMean) {
  const std::vector<float> values = {3, -4, 1, -1, 2, 0, -1, 2.5F};
  EXPECT_EQ(selected(*selector_of("sbc ratio=0.25"), values).indices, (std::vector<std::uint32_t>{0, 7}));  // 2.75 against 2.5
  EXPECT_EQ(selected(*selector_of("sbc ratio=0.125"), values).indices, (std::vector<std::uint32_t>{1}));    // 3 against 4
  EXPECT_EQ(selected(*selector_of("sbc ratio=0.5"), std::vector<float>{-1, 1}).indices, (std::vector<std::uint32_t>{1}));  // equal
}

TEST(Sbc, EqualsTheDefinition) {
  for (const double ratio : {0.001, 0.01, 0.1, 1.0}) {
    const auto selector = selector_of("sbc ratio=" + std::to_string(ratio));
    for (const auto& [name, values] : hard_vectors()) {
      SCOPED_TRACE(name + " at " + std::to_string(ratio));
      expect_exact(*selector, values, entries_at(ratio, values.size()));
    }
  }
}

TEST(Sbc, LopsidedRangesAreExactToo) {
  const std::size_t length = 100000;
  const auto selector = selector_of("sbc ratio=0.01");
  for (const float shift : {0.0F, 0.1F, -1.0F, 3.0F, -10.0F}) {
    for (const std::uint64_t seed : {1U, 2U}) {
      auto values = normal_vector(length, seed);
      for (float& value : values) value += shift;
      SCOPED_TRACE(shift);
      expect_exact(*selector, values, 1000);
    }
  }
  auto outlier = normal_vector(length, 1);
  for (float& value : outlier) value = std::abs(value);
  outlier[500] = -100.0F;  // one negative entry has the larger mean
  expect_exact(*selector, outlier, 1000);
  outlier[500] = -0.001F;
  expect_exact(*selector, outlier, 1000);
  for (std::size_t i = 0; i < 900; ++i) outlier[i * 111] = -3.2F;  // fewer than k, and near the other mean
  expect_exact(*selector, outlier, 1000);
}

TEST(Sbc, AGuessFromTheLastCallCostsTimeOnly) {
  const auto selector = selector_of("sbc ratio=0.01");
  for (const float scale : {1.0F, 1.0F, 0.5F, 100.0F, 1e-30F, 1e30F, 0.0F, 1.0F}) {
    auto values = normal_vector(100000, 17);
    for (auto& value : values) value *= scale;
    expect_exact(*selector, values, 1000);
    EXPECT_EQ(selected_of_sum(*selector, values).indices, oracle(values, 1000)) << scale;
  }
}

TEST(Sbc, C5_TheLastPlaceIsSent) { EXPECT_TRUE(sends_the_last("sbc ratio=1e-7")); }

TEST(Sbc, RefusesOptionsOutsideTheirRanges) { EXPECT_TRUE(refuses({"sbc ratio=0", "sbc ratio=1.1", "sbc side=1"})); }

}  // namespace
}  // namespace hourglass::compress::testing
