// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/value_coder.h"

#include <gtest/gtest.h>

#include "learning/compress/bf16.h"
#include "learning/compress/f32.h"
#include "learning/compress/two_level.h"
#include "tests/learning/compress/vectors.h"

namespace hourglass::compress::testing {
namespace {

GradientBlock dense_block(const ValueCoder& coder, const std::vector<float>& values) {
  GradientBlock block;
  block.length = values.size();
  block.count = values.size();
  coder.encode(values, 0, block);
  return block;
}

double squared_error(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (static_cast<double>(a[i]) - b[i]) * (static_cast<double>(a[i]) - b[i]);
  return sum;
}

TEST(TwoLevel, PacksEveryLength) {
  for (std::size_t length = 0; length <= 40; ++length) {
    std::vector<float> values(length);
    for (std::size_t i = 0; i < length; ++i) values[i] = (i % 3 == 0 ? 2.0F : 5.0F) * (i % 2 == 0 ? 1.0F : -1.0F);
    const GradientBlock block = dense_block(two_level_coder(), values);
    EXPECT_EQ(block.values.size(), (length + 3) / 4);
    EXPECT_EQ(decoded(block, length), values);
  }
}

TEST(TwoLevel, ErrorIsAtMostThatOfOneLevelAndQuantizingAgainChangesNothing) {
  for (const auto& [name, values] : hard_vectors()) {
    if (values.empty()) continue;
    SCOPED_TRACE(name);
    double mean = 0;
    for (const float value : values) mean += std::abs(static_cast<double>(value)) / static_cast<double>(values.size());
    std::vector<float> one_level(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) one_level[i] = std::copysign(static_cast<float>(mean), values[i]);
    const auto once = decoded(dense_block(two_level_coder(), values), values.size());
    EXPECT_LE(squared_error(values, once), squared_error(values, one_level) * (1 + 1e-6));
    EXPECT_EQ(decoded(dense_block(two_level_coder(), once), values.size()), once);
  }
  const auto large = normal_vector(200000, 6);  // levels are fitted on a sample first
  const auto once = decoded(dense_block(two_level_coder(), large), large.size());
  EXPECT_EQ(decoded(dense_block(two_level_coder(), once), large.size()), once);
}

TEST(TwoLevel, KeptNormalValuesLoseUnderOnePercentOfTheirEnergy) {
  std::vector<float> kept;
  for (const float value : normal_vector(1000000, 12)) {
    if (std::abs(value) > 2.5758F) kept.push_back(value);
  }
  double energy = 0;
  for (const float value : kept) energy += static_cast<double>(value) * value;
  EXPECT_LT(squared_error(kept, decoded(dense_block(two_level_coder(), kept), kept.size())), 0.004 * energy);
}

TEST(TwoLevel, LevelsOfExtremes) {
  const auto expect_levels = [](const std::vector<float>& values, float low, float high) {
    const Levels levels = fit_levels(values);
    EXPECT_EQ(levels.low, low);
    EXPECT_EQ(levels.high, high);
  };
  expect_levels({}, 0, 0);
  expect_levels({-3.5F}, 3.5F, 3.5F);
  expect_levels({1.25F, -1.25F, 1.25F}, 1.25F, 1.25F);
  expect_levels({FLT_MAX, -FLT_MAX}, FLT_MAX, FLT_MAX);
  expect_levels({FLT_TRUE_MIN, FLT_MAX}, FLT_TRUE_MIN, FLT_MAX);
  expect_levels({FLT_TRUE_MIN, -2 * FLT_TRUE_MIN}, FLT_TRUE_MIN, 2 * FLT_TRUE_MIN);
  const float neighbour = std::nextafter(1.0F, 2.0F);
  expect_levels({1.0F, neighbour}, 1.0F, neighbour);
  EXPECT_EQ(decoded(dense_block(two_level_coder(), {1.0F, -neighbour}), 2), (std::vector<float>{1.0F, -neighbour}));
}

TEST(TwoLevel, RefusesLevelsThatAreNoLevels) {
  const GradientBlock good = dense_block(two_level_coder(), {1, -2, 3, -4, 5});
  ASSERT_TRUE(validate(good, 5).ok());
  const auto code_of = [&](float low, float high) {
    GradientBlock bad = good;
    bad.low = low;
    bad.high = high;
    const Status status = validate(bad, 5);
    return status.ok() ? std::optional<Errc>() : status.error().code;
  };
  EXPECT_EQ(code_of(2, 1), Errc::malformed);
  EXPECT_EQ(code_of(-1, 1), Errc::malformed);
  EXPECT_EQ(code_of(std::nanf(""), 1), Errc::bad_data);
  EXPECT_EQ(code_of(0, HUGE_VALF), Errc::bad_data);
  EXPECT_EQ(code_of(0, 0), std::nullopt);
  GradientBlock trailing = good;
  trailing.values.back() |= std::byte{4};
  EXPECT_FALSE(validate(trailing, 5).ok());
}

TEST(C3_TwoLevel, AMillionFloatsAreAQuarterOfAMillionBytes) {
  const auto compressor = try_compressor("dense | two_level");
  ASSERT_TRUE(compressor.ok());
  EXPECT_LE(payload((*compressor)->compress(normal_vector(1000000, 3), 0)), 250000U);
}

TEST(Bf16, RoundsToNearestEvenAndNeverToInfinity) {
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> cases = {
      {0x3f800000U, 0x3f800000U}, {0x3f808000U, 0x3f800000U}, {0x3f818000U, 0x3f820000U}, {0x3f808001U, 0x3f810000U},
      {0x3f807fffU, 0x3f800000U}, {0x7f7fffffU, 0x7f7f0000U}, {0xff7fffffU, 0xff7f0000U}, {0x80000000U, 0x80000000U},
      {0x00000001U, 0x00000000U}, {0x0000ffffU, 0x00010000U}};
  for (const auto& [in, out] : cases) {
    const GradientBlock block = dense_block(bf16_coder(), {std::bit_cast<float>(in)});
    std::uint16_t half = 0;
    std::memcpy(&half, block.values.data(), 2);
    EXPECT_EQ(static_cast<std::uint32_t>(half) << 16, out) << std::hex << in;
  }
  for (const auto& values : {normal_vector(3000, 1)}) {
    const auto out = decoded(dense_block(bf16_coder(), values), values.size());
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_LE(std::abs(out[i] - values[i]), std::abs(values[i]) / 256);
  }
}

TEST(ValueCoders, NonFiniteValuesAreBadDataAndTheSumIsUntouched) {
  for (const bool wide : {true, false}) {
    for (const std::size_t at : {0UL, 8UL, 99UL}) {
      for (const std::uint32_t bits : {0x7f800000U, 0xff800000U, 0x7fc00000U, 0x7f810000U}) {
        GradientBlock block = dense_block(wide ? f32_coder() : bf16_coder(), normal_vector(100, 1));
        if (wide) {
          std::memcpy(block.values.data() + 4 * at, &bits, 4);
        } else {
          const auto half = static_cast<std::uint16_t>(bits >> 16);
          std::memcpy(block.values.data() + 2 * at, &half, 2);
        }
        std::vector<float> sum(100, 1.0F);
        const Status status = accumulate(block, sum);
        ASSERT_FALSE(status.ok());
        EXPECT_EQ(status.error().code, Errc::bad_data);
        EXPECT_EQ(sum, std::vector<float>(100, 1.0F));
      }
    }
  }
}

}  // namespace
}  // namespace hourglass::compress::testing
