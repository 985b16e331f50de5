// SPDX-License-Identifier: Apache-2.0
// What each value codec makes of values that can be checked by hand. What they all promise is in contract_test.cc and value_error_test.cc.
#include <gtest/gtest.h>

#include "learning/compress/buckets.h"
#include "learning/compress/error_feedback.h"
#include "learning/compress/registry.h"
#include "tests/learning/compress/vectors.h"

namespace hourglass::compress::testing {
namespace {

GradientBlock block_of(const std::string& codec, const std::vector<float>& values, std::uint64_t step = 0) {
  return compressor_of("dense | " + codec, values.size())->compress(values, step);
}
std::vector<float> through(const std::string& codec, const std::vector<float>& values, std::uint64_t step = 0) {
  return decoded(block_of(codec, values, step), values.size());
}
Status status_of(GradientBlock block, std::size_t at, std::uint8_t byte) {
  block.values[at] = static_cast<std::byte>(byte);
  return validate(block, block.length);
}
std::string refusal(const std::string& codec) {
  const auto made = try_compressor("dense | " + codec);
  return made.ok() ? "" : made.error().text;
}

TEST(F16, RoundsToNearestEvenAndSaturates) {
  const std::vector<std::pair<float, std::uint16_t>> cases = {
      {1.0F, 0x3c00},       {-2.0F, 0xc000},      {65504.0F, 0x7bff},    {65519.0F, 0x7bff}, {65520.0F, 0x7bff},
      {1e30F, 0x7bff},      {-FLT_MAX, 0xfbff},   {0.0F, 0x0000},        {-0.0F, 0x8000},    {0x1p-14F, 0x0400},
      {0x1p-24F, 0x0001},   {0x1p-25F, 0x0000},   {0x1.8p-24F, 0x2},     {0x1.1p-25F, 0x1},  {0x1.ffcp-15F, 0x0400},
      {0x1.002p0F, 0x3c00}, {0x1.006p0F, 0x3c02}, {0x1.0021p0F, 0x3c01}, {0.1F, 0x2e66},     {1e-30F, 0x0000}};
  for (const auto& [in, out] : cases) {
    const GradientBlock block = block_of("f16", {in});
    std::uint16_t half = 0;
    std::memcpy(&half, block.values.data(), 2);
    EXPECT_EQ(half, out) << in;
  }
}

TEST(F16, EveryFiniteHalfComesBack) {
  std::vector<float> values;
  for (unsigned half = 0; half < 0x10000U; ++half) {
    const int exponent = static_cast<int>(half >> 10 & 31U);
    if (exponent == 31) continue;
    const auto mantissa = static_cast<float>(half & 1023U);
    const float magnitude = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024.0F + mantissa, exponent - 25);
    values.push_back((half & 0x8000U) != 0 ? -magnitude : magnitude);
  }
  EXPECT_EQ(through("f16", values), values);
  const auto normal = normal_vector(3000, 1);
  const auto out = through("f16", normal);
  for (std::size_t i = 0; i < normal.size(); ++i)
    ASSERT_LE(std::abs(out[i] - normal[i]), std::max(std::abs(normal[i]) * 0x1p-11F, 0x1p-25F));
}

TEST(U8, ErrorIsHalfAStepOfItsChunk) {
  auto values = normal_vector(10000, 3);
  for (std::size_t i = 4096; i < 8192; ++i) values[i] *= 1e-20F;  // a chunk of its own scale
  const auto out = through("u8", values);
  for (std::size_t begin = 0; begin < values.size(); begin += 4096) {
    const std::size_t end = std::min<std::size_t>(begin + 4096, values.size());
    float largest = 0;
    for (std::size_t i = begin; i < end; ++i) largest = std::max(largest, std::abs(values[i]));
    for (std::size_t i = begin; i < end; ++i) {
      ASSERT_LE(std::abs(out[i] - values[i]), largest / 254 * 1.0001F);
      if (std::abs(values[i]) == largest) {
        ASSERT_EQ(out[i], values[i]);
      }
    }
  }
  EXPECT_EQ(block_of("u8", values).values.size(), 5 + 3 * 4 + values.size());
  EXPECT_EQ(block_of("u8 chunk=64", values).values.size(), 5 + 157 * 4 + values.size());
  EXPECT_NE(refusal("u8 chunk=100"), "");
  EXPECT_NE(refusal("u8 chunk=32"), "");
}

TEST(U8, HalfGoesToEven) {
  const std::vector<float> values = {127.0F, 0.5F, 1.5F, -2.5F, 2.51F, -0.49F};
  EXPECT_EQ(through("u8", values),
            (std::vector<float>{127.0F, 0.0F, 127.0F * (2.0F / 127), -127.0F * (2.0F / 127), 127.0F * (3.0F / 127), 0.0F}));
}

TEST(Qsgd, LevelsAreTheNeighboursAndSizesAreAsTold) {
  const auto values = normal_vector(5000, 2);
  for (const unsigned levels : {1U, 3U, 4U, 7U, 100U, 127U}) {
    const std::string spec = "qsgd levels=" + std::to_string(levels) + " bucket=64";
    const GradientBlock block = block_of(spec, values);
    const unsigned bits = Buckets{64, levels}.bits();
    EXPECT_EQ(block.values.size(), 5 + 4 * 79 + (5000 * bits + 7) / 8);
    const auto out = decoded(block, values.size());
    for (std::size_t begin = 0; begin < values.size(); begin += 64) {
      const std::size_t end = std::min<std::size_t>(begin + 64, values.size());
      float largest = 0;
      for (std::size_t i = begin; i < end; ++i) largest = std::max(largest, std::abs(values[i]));
      for (std::size_t i = begin; i < end; ++i) {
        ASSERT_LT(std::abs(out[i] - values[i]), largest / static_cast<float>(levels) * 1.0001F);
        if (std::abs(values[i]) == largest) {
          ASSERT_NEAR(out[i], values[i], largest * 1e-6F);
        }
      }
    }
  }
}

TEST(Qsgd, EuclideanNormMayExceedTheRangeAndItsVarianceIsBounded) {
  const auto values = normal_vector(512, 4);
  double energy = 0;
  for (const float value : values) energy += static_cast<double>(value) * value;
  double error = 0;
  constexpr int kRounds = 50;
  for (int step = 0; step < kRounds; ++step) {
    const auto out = through("qsgd levels=4 bucket=512 norm=l2", values, static_cast<std::uint64_t>(step));
    for (std::size_t i = 0; i < values.size(); ++i) error += (out[i] - values[i]) * (out[i] - values[i]);
  }
  EXPECT_LE(error / kRounds, std::min(512.0 / 16, std::sqrt(512.0) / 4) * energy);
  EXPECT_FALSE(compressor_of("dense | qsgd norm=l2", 8)->keeps_range());
  EXPECT_TRUE(compressor_of("dense | qsgd", 8)->keeps_range());
  EXPECT_NE(refusal("qsgd norm=l1").find("max or l2"), std::string::npos);
  EXPECT_NE(refusal("qsgd levels=128"), "");
}

TEST(Qsgd, RefusesFormsThatItsWriterDoesNotMake) {
  const GradientBlock good = block_of("qsgd levels=5 bucket=64", normal_vector(200, 1));
  ASSERT_TRUE(validate(good, 200).ok());
  EXPECT_EQ(status_of(good, 0, 60).error().code, Errc::malformed);  // bucket
  EXPECT_FALSE(status_of(good, 4, 0).ok());                         // levels
  EXPECT_FALSE(status_of(good, 4, 128).ok());
  EXPECT_FALSE(status_of(good, 8, 0xbf).ok());                                // a negative scale
  EXPECT_FALSE(status_of(good, good.values.size() - 1, 0x77).ok());           // level 7 of 5
  EXPECT_FALSE(status_of(block_of("u8", normal_vector(9, 1)), 4, 126).ok());  // u8 has 127
  GradientBlock infinite = good;
  const float scale = HUGE_VALF;
  std::memcpy(infinite.values.data() + 5, &scale, 4);
  EXPECT_EQ(validate(infinite, 200).error().code, Errc::bad_data);
}

TEST(Natural, ExactOnPowersOfTwoAndZero) {
  for (const char* codec : {"natural", "natural bits=8"}) {
    std::vector<float> values = {0.0F, 1.0F, -2.0F, 0.5F, -0x1p-100F, 0x1p20F};
    for (int e = -100; e <= 20; ++e) values.push_back(std::ldexp(e % 2 == 0 ? 1.0F : -1.0F, e));
    EXPECT_EQ(through(codec, values), values) << codec;
  }
  const std::vector<float> wide = {0x1p-126F, -0x1p127F, 1.0F};
  EXPECT_EQ(through("natural", wide), wide);
}

TEST(Natural, RoundsToANeighbouringPowerAndSaturates) {
  for (const char* codec : {"natural", "natural bits=8"}) {
    const auto values = normal_vector(4000, 8);
    const auto out = through(codec, values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      int exponent = 0;
      const float fraction = std::frexp(std::abs(out[i]), &exponent);
      ASSERT_EQ(fraction, 0.5F);
      ASSERT_GT(std::abs(out[i]), std::abs(values[i]) / 2);
      ASSERT_LT(std::abs(out[i]), std::abs(values[i]) * 2);
    }
    EXPECT_EQ(through(codec, {FLT_MAX, -FLT_MAX}), (std::vector<float>{0x1p127F, -0x1p127F}));
  }
  EXPECT_EQ(block_of("natural", normal_vector(100, 1)).values.size(), 1U + 100 + 13);
  EXPECT_EQ(block_of("natural bits=8", normal_vector(100, 1)).values.size(), 1U + 100);
  const GradientBlock block = block_of("natural", normal_vector(100, 1));
  EXPECT_EQ(status_of(block, 5, 255).error().code, Errc::bad_data);
  EXPECT_FALSE(status_of(block_of("natural bits=8", normal_vector(100, 1)), 0, 129).ok());
}

ErrorFeedback with_residual(const std::string& spec, const std::vector<float>& residual) {
  auto feedback = std::move(ErrorFeedback::make(spec, {{0, residual.size(), false}}, residual.size())).value();
  const GradientBlock before = block_of("f32", residual);
  HG_CHECK(feedback.restore({&before, 1}).ok(), "a residual can be set");
  return feedback;
}

TEST(C1_MxnetTwoBit, WorkedExampleOutputAndResidual) {
  auto feedback = with_residual("dense | mxnet_two_bit threshold=4", {-3, 1, -1, 5, -2, 2, 3, -7, -2, -100});
  const auto blocks = feedback.compress(std::vector<float>{-6, -2, 3, 1, 10, 5, -3, 2, -8, 0}, 0);
  ASSERT_TRUE(blocks.ok());
  ASSERT_EQ(blocks->size(), 1U);
  EXPECT_EQ(decoded(blocks->front(), 10), (std::vector<float>{-4, 0, 0, 4, 4, 4, 0, -4, -4, -4}));
  EXPECT_EQ(std::vector<float>(feedback.residual().begin(), feedback.residual().end()),
            (std::vector<float>{-5, -1, 2, 2, 4, 3, 0, -1, -6, -96}));
}

TEST(C3_MxnetTwoBit, SixteenValuesAWord) {
  EXPECT_EQ(block_of("mxnet_two_bit", std::vector<float>(16, 1.0F)).values.size(), 4U + 4);
  EXPECT_EQ(block_of("mxnet_two_bit", std::vector<float>(17, 1.0F)).values.size(), 4U + 8);
  const GradientBlock block = block_of("mxnet_two_bit", normal_vector(1000000, 3));
  EXPECT_LE(payload(block), 250000U + 64);
  // 3 is +t, 2 is -t: +t, -t, 0, +t from the low bit.
  EXPECT_EQ(block_of("mxnet_two_bit", {0.5F, -0.5F, 0.4999F, 9.0F}).values[4], std::byte{0b11001011});
}

TEST(MxnetTwoBit, RefusesTheFourthCodeAndCodesBehindTheLast) {
  const GradientBlock good = block_of("mxnet_two_bit threshold=0.1", {1, -1, 1});
  ASSERT_TRUE(validate(good, 3).ok());
  EXPECT_FALSE(status_of(good, 4, 0b111001).ok());
  EXPECT_FALSE(status_of(good, 4, 0b11111011).ok());
  EXPECT_FALSE(status_of(good, 7, 0b11).ok());
  EXPECT_FALSE(status_of(good, 3, 0xbd).ok());  // a negative threshold
  EXPECT_NE(refusal("mxnet_two_bit threshold=0"), "");
}

TEST(Mean, OneSignCostsNoBits) {
  EXPECT_EQ(through("mean", {1, -2, 3, -4}), (std::vector<float>{2.5F, -2.5F, 2.5F, -2.5F}));
  EXPECT_EQ(through("mean", {1, 2, 6}), (std::vector<float>{3, 3, 3}));
  EXPECT_EQ(through("mean", {-1, -2, -6}), (std::vector<float>{-3, -3, -3}));
  EXPECT_EQ(block_of("mean", std::vector<float>(1000, -2.0F)).values.size(), 5U);
  EXPECT_EQ(block_of("mean", normal_vector(1000, 1)).values.size(), 5U + 125);
  std::vector<float> sparse(1000, 0.0F);
  for (std::size_t i = 0; i < 10; ++i) sparse[100 * i] = -3.0F - static_cast<float>(i);
  const auto one_sided = compressor_of("topk ratio=0.01 | mean | rice", 1000)->compress(sparse, 0);
  EXPECT_EQ(one_sided.values.size(), 5U);
  EXPECT_EQ(decoded(one_sided, 1000)[900], -7.5F);
  EXPECT_EQ(decoded(one_sided, 1000)[901], 0.0F);
  EXPECT_FALSE(status_of(one_sided, 0, 3).ok());
  EXPECT_FALSE(status_of(one_sided, 4, 0xc0).ok());
}

TEST(TernGrad, C7_ConstantVectorsAreNotLost) {
  for (const char* codec : {"terngrad", "terngrad clip=2.5"}) {
    EXPECT_EQ(through(codec, std::vector<float>(333, 0.75F)), std::vector<float>(333, 0.75F)) << codec;
  }
  const auto out = through("terngrad", {0.0F, 3.0F, -0.0F, -3.0F, 1.5F});
  EXPECT_EQ(out[0], 0.0F);
  EXPECT_EQ(out[1], 3.0F);
  EXPECT_EQ(out[3], -3.0F);
}

TEST(TernGrad, FiveDigitsAByte) {
  EXPECT_EQ(block_of("terngrad", normal_vector(1000, 1)).values.size(), 4U + 200);
  const GradientBlock block = block_of("terngrad", {1, -1, 0, 1, -1, 1, -1});
  EXPECT_EQ(block.values[4], static_cast<std::byte>(1 + 2 * 3 + 0 * 9 + 1 * 27 + 2 * 81));
  EXPECT_EQ(block.values[5], static_cast<std::byte>(1 + 2 * 3));
  EXPECT_FALSE(status_of(block, 4, 243).ok());
  EXPECT_FALSE(status_of(block, 5, 9).ok());
  EXPECT_TRUE(status_of(block, 5, 8).ok());
}

TEST(TernGrad, ClippingBoundsTheScale) {
  auto values = normal_vector(10000, 1);
  values[17] = 1000.0F;
  const auto out = through("terngrad clip=2.5", values);
  const float scale = *std::max_element(out.begin(), out.end());
  EXPECT_NEAR(scale, 2.5 * std::sqrt(1.0 + 1000.0 * 1000 / 10000), 0.5);
  EXPECT_EQ(out[17], scale);
}

TEST(C4_Sign, MeanOfEachSign) {
  EXPECT_EQ(through("sign", {1, -2, 3, -4}), (std::vector<float>{2, -3, 2, -3}));
  EXPECT_EQ(block_of("sign", normal_vector(1000, 1)).values.size(), 8U + 125);
  EXPECT_EQ(through("sign", {5, 0, 1}), (std::vector<float>{2, 2, 2}));
  EXPECT_EQ(through("sign", {-5, -1}), (std::vector<float>{-3, -3}));
  EXPECT_FALSE(status_of(block_of("sign", {1, -2, 3, -4}), 8, 0x1a).ok());
}

TEST(Curve, OrderIsKeptAndMagnitudesFallWithTheirRank) {
  for (const std::size_t length : {64UL, 65UL, 127UL, 128UL, 1000UL, 20000UL}) {
    const auto values = normal_vector(length, length);
    const auto out = through("curve", values);
    std::vector<std::size_t> order(length);
    for (std::size_t i = 0; i < length; ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return std::abs(values[a]) > std::abs(values[b]); });
    std::size_t head = length;
    while (head >= 64) head /= 2;
    double error = 0;
    double energy = 0;
    for (std::size_t rank = 0; rank < length; ++rank) {
      const float value = values[order[rank]];
      if (rank < head) {
        ASSERT_EQ(out[order[rank]], value);
      }
      ASSERT_EQ(std::signbit(out[order[rank]]), std::signbit(value));
      error += (out[order[rank]] - value) * (out[order[rank]] - value);
      energy += value * value;
    }
    EXPECT_LT(error, 2e-4 * energy) << length;
  }
  const auto few = normal_vector(63, 1);
  EXPECT_EQ(through("curve", few), few);
  EXPECT_EQ(through("curve", std::vector<float>(500, -0.125F)), std::vector<float>(500, -0.125F));
}

TEST(Curve, CostIsAsTold) {
  // 10,000: a head of 39 and 8 pieces; 14 bits of rank and one of sign.
  EXPECT_EQ(block_of("curve", normal_vector(10000, 1)).values.size(), 4U * 39 + 8 * 32 + (10000 * 15 + 7) / 8);
}

TEST(Curve, RefusesRisingPiecesAndRanksBeyondTheCount) {
  const GradientBlock good = block_of("curve", normal_vector(65, 1));  // a head of 32, one piece, 8 bits a code
  ASSERT_TRUE(validate(good, 65).ok());
  ASSERT_EQ(good.values.size(), 32U * 4 + 32 + 65);
  EXPECT_FALSE(status_of(good, good.values.size() - 1, 65 << 1).ok());
  EXPECT_TRUE(status_of(good, good.values.size() - 1, 64 << 1).ok());
  EXPECT_FALSE(status_of(good, 32 * 4 + 7, 0x7e).ok());  // its last is above its first
  EXPECT_FALSE(status_of(good, 3, 0xbf).ok());           // a negative magnitude
  EXPECT_EQ(status_of(good, 3, 0x7f).ok(), true);
  GradientBlock infinite = good;
  const float coefficient = HUGE_VALF;
  std::memcpy(infinite.values.data() + 32 * 4 + 12, &coefficient, 4);
  EXPECT_EQ(validate(infinite, 65).error().code, Errc::bad_data);
}

}  // namespace
}  // namespace hourglass::compress::testing
