// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/learning/compress/vectors.h"

namespace hourglass::compress::testing {
namespace {

GradientBlock compressed(const char* spec, const std::vector<float>& values, std::size_t offset = 0) {
  auto made = try_compressor(spec, values.size());
  HG_CHECK(made.ok(), made.ok() ? "" : made.error().text);
  GradientBlock block = (*made)->compress(values, 0);
  block.offset = offset;
  return block;
}

TEST(Accumulate, AddsWeightedValuesWithinItsRangeOnly) {
  const auto values = normal_vector(2000, 1);
  for (const auto& spec : all_specs()) {
    SCOPED_TRACE(spec);
    GradientBlock block = compressed(spec.c_str(), values);
    const auto plain = decoded(block, values.size());
    block.offset = 100;
    std::vector<float> sum(2300, 3.0F);
    ASSERT_TRUE(accumulate(block, sum, -0.3F).ok());
    for (std::size_t i = 0; i < sum.size(); ++i) {
      const bool inside = i >= 100 && i < 2100;
      const float change = inside ? -0.3F * plain[i - 100] : 0.0F;
      ASSERT_EQ(sum[i], 3.0F + change) << i;
    }
  }
}

TEST(Accumulate, RefusesRangesBeyondTheGroup) {
  const auto values = normal_vector(100, 1);
  for (const char* spec : {"dense", "topk ratio=0.1 | two_level | rice"}) {
    const GradientBlock good = compressed(spec, values);
    std::vector<float> sum(150, 0.0F);
    for (const std::uint64_t offset : {51UL, 150UL, 151UL, ~0UL, ~0UL - 99}) {
      GradientBlock bad = good;
      bad.offset = offset;
      EXPECT_EQ(accumulate(bad, sum).error().code, Errc::malformed);
    }
    GradientBlock at_end = good;
    at_end.offset = 50;
    EXPECT_TRUE(accumulate(at_end, sum).ok());
    GradientBlock claims = good;
    claims.count = claims.length = 1ULL << 60;
    EXPECT_EQ(validate(claims, 150).error().code, Errc::malformed);
  }
}

TEST(Accumulate, RefusesFieldsThatItsCodecsHaveNot) {
  const auto values = normal_vector(100, 1);
  GradientBlock levels = compressed("dense", values);
  levels.high = 1;
  EXPECT_FALSE(validate(levels, 100).ok());
  GradientBlock parameter = compressed("dense", values);
  parameter.rice_bits = 3;
  EXPECT_FALSE(validate(parameter, 100).ok());
  GradientBlock fewer = compressed("dense", values);
  fewer.count = 99;
  fewer.values.resize(4 * 99);
  EXPECT_FALSE(validate(fewer, 100).ok());
  GradientBlock more = compressed("topk ratio=1 | f32 | raw", values);
  more.length = 99;
  EXPECT_FALSE(validate(more, 100).ok());
}

TEST(Accumulate, NegativeZeroAndDenormalsAreFine) {
  const std::vector<float> values = {-0.0F, FLT_TRUE_MIN, -FLT_TRUE_MIN, 0.0F};
  std::vector<float> sum(4, 0.0F);
  ASSERT_TRUE(accumulate(compressed("dense", values), sum).ok());
  EXPECT_EQ(sum, values);
}

TEST(Assign, OverwritesFromF32Only) {
  const auto values = normal_vector(50, 1);
  std::vector<float> target(100, 7.0F);
  ASSERT_TRUE(assign(compressed("dense", values, 20), target).ok());
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(target[i], i >= 20 && i < 70 ? values[i - 20] : 7.0F);
  const auto before = target;
  const GradientBlock half = compressed("topk ratio=0.5 | f32 | rice", values, 20);
  Entries entries;
  ASSERT_TRUE(entries_of(half, 100, entries).ok());
  std::vector<float> sparse(100, 7.0F);
  ASSERT_TRUE(assign(half, sparse).ok());
  ASSERT_EQ(entries.indices.size(), 25U);
  EXPECT_EQ(std::count(sparse.begin(), sparse.end(), 7.0F), 75);
  for (const std::uint32_t index : entries.indices) EXPECT_EQ(sparse[20 + index], values[index]);
  for (const char* spec : {"dense | bf16", "dense | two_level", "topk ratio=0.5 | u8", "topk ratio=0.5 | bf16 | rice"}) {
    EXPECT_EQ(assign(compressed(spec, values), target).error().code, Errc::malformed);
  }
  GradientBlock beyond = compressed("dense", values, 51);
  EXPECT_EQ(assign(beyond, target).error().code, Errc::malformed);
  GradientBlock nan = compressed("dense", values);
  nan.values[3] = nan.values[2] = std::byte{0xff};
  EXPECT_EQ(assign(nan, target).error().code, Errc::bad_data);
  EXPECT_EQ(target, before);
}

}  // namespace
}  // namespace hourglass::compress::testing
