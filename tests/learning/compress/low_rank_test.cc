// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/low_rank.h"

#include <gtest/gtest.h>

#include "learning/compress/outer_sum.h"
#include "learning/compress/power_iteration.h"
#include "tests/learning/compress/hostile.h"

namespace hourglass::compress::testing {
namespace {

/// A matrix of the rank.
std::vector<float> product_matrix(std::size_t rows, std::size_t columns, std::size_t rank, std::uint64_t seed) {
  const auto left = normal_vector(rows * rank, seed);
  const auto right = normal_vector(columns * rank, seed + 1);
  std::vector<float> out(rows * columns, 0.0F);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      for (std::size_t k = 0; k < rank; ++k) out[i * columns + j] += left[i * rank + k] * right[j * rank + k];
    }
  }
  return out;
}

double relative_error(const std::vector<float>& matrix, const GradientBlock& block) {
  return std::sqrt(squared_error(matrix, decoded(block, matrix.size())) / energy(matrix));
}

TEST(LowRank, IsExactForMatricesOfItsRankOnceWarm) {
  for (const auto& [rows, columns] : {std::pair<std::size_t, std::size_t>{40, 90}, {90, 40}, {33, 17}, {200, 300}}) {
    for (const std::size_t rank : {1UL, 2UL, 4UL}) {
      const auto matrix = product_matrix(rows, columns, rank, rank);
      for (const char* spec : {"low_rank rank=4", "factors rank=4 steps=2"}) {
        auto compressor = compressor_of(spec, matrix.size(), columns);
        compressor->compress(matrix, 0);
        const GradientBlock block = compressor->compress(matrix, 1);
        EXPECT_EQ(payload(block), 8 + 4 * 4 * (rows + columns));
        EXPECT_LT(relative_error(matrix, block), 1e-5) << rows << 'x' << columns << " of rank " << rank;
      }
    }
  }
}

TEST(LowRank, RecoversItsRankAfterSmallerOnes) {
  const std::size_t columns = 60;
  auto compressor = compressor_of("low_rank rank=4", 50 * columns, columns);
  for (std::uint64_t step = 0; step < 5; ++step) compressor->compress(product_matrix(50, columns, 1, step), step);
  const auto matrix = product_matrix(50, columns, 4, 9);
  compressor->compress(matrix, 5);
  EXPECT_LT(relative_error(matrix, compressor->compress(matrix, 6)), 1e-5);
}

TEST(LowRank, ErrorNeverExceedsTheMatrixAndShrinksWhenWarm) {
  const std::size_t columns = 120;
  auto matrix = product_matrix(100, columns, 4, 1);
  const auto noise = normal_vector(matrix.size(), 5);
  for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] += noise[i];
  auto compressor = compressor_of("low_rank rank=4", matrix.size(), columns);
  double first = 0;
  double last = 1;
  for (std::uint64_t step = 0; step < 10; ++step) {
    const double error = relative_error(matrix, compressor->compress(matrix, step));
    EXPECT_LT(error, last * (1 + 1e-6));
    last = error;
    if (step == 0) first = error;
  }
  EXPECT_LT(last, first);
}

TEST(LowRank, ResidualIsBoundedAndNothingIsLost) {
  const std::size_t columns = 80;
  const std::size_t length = 64 * columns;
  auto feedback = feedback_of("low_rank rank=4", length, columns);
  std::vector<double> given(length, 0.0);
  std::vector<double> sent(length, 0.0);
  std::vector<double> norms;
  for (std::uint64_t step = 0; step < 300; ++step) {
    const auto delta = normal_vector(length, step);
    const auto blocks = feedback.compress(delta, step);
    ASSERT_TRUE(blocks.ok());
    const auto out = decoded(blocks->front(), length);
    for (std::size_t i = 0; i < length; ++i) {
      given[i] += delta[i];
      sent[i] += out[i];
    }
    norms.push_back(feedback.residual_norm());
  }
  for (std::size_t i = 0; i < length; ++i) ASSERT_NEAR(given[i], sent[i] + static_cast<double>(feedback.residual()[i]), 1e-3);
  EXPECT_LT(norms[299], 1.3 * norms[149]);
}

TEST(LowRank, VectorsAndSmallMatricesGoDense) {
  for (const char* spec : {"low_rank rank=4", "factors rank=4"}) {
    for (const std::size_t columns : {64UL, 8UL}) {
      const auto values = normal_vector(64, 1);
      const GradientBlock block = compressor_of(spec, 64, columns)->compress(values, 0);
      EXPECT_EQ(block.value_codec, ValueCodec::f32);
      EXPECT_EQ(decoded(block, 64), values);
    }
  }
}

TEST(LowRank, HardMatricesDecodeFinite) {
  for (const auto& [name, values] : hard_vectors()) {
    if (values.size() < 3000) continue;
    SCOPED_TRACE(name);
    for (const char* spec : {"low_rank rank=2", "factors rank=2"}) {
      const auto matrix = std::vector<float>(values.begin(), values.begin() + 3000);
      for (const float scale : {1.0F, 1e38F, 1e-38F}) {
        auto scaled = matrix;
        for (float& value : scaled) value = std::clamp(value * scale, -FLT_MAX, FLT_MAX);
        const auto out = decoded(compressor_of(spec, 3000, 60)->compress(scaled, 0), 3000);
        for (const float value : out) ASSERT_TRUE(std::isfinite(value));
      }
    }
  }
}

TEST(LowRank, SameBlocksFromTheSameCalls) {
  auto a = compressor_of("low_rank rank=3", 3000, 60);
  auto b = compressor_of("low_rank rank=3", 3000, 60);
  for (std::uint64_t step = 0; step < 4; ++step) {
    const auto values = normal_vector(3000, step);
    EXPECT_TRUE(equal(a->compress(values, step), b->compress(values, step)));
  }
}

TEST(LowRank, HostileBlobsAreHarmless) {
  for (const char* spec : {"low_rank rank=3", "factors rank=3"}) {
    const GradientBlock good = compressor_of(spec, 3000, 60)->compress(normal_vector(3000, 2), 0);
    expect_hostile_values_harmless(good, 3000);
    for (const auto& [at, value] : {std::pair{0, 0U}, {0, 513U}, {0, 0xffffffffU}, {4, 0U}, {4, 7U}, {4, 30U}, {4, 0xffffffffU}}) {
      GradientBlock bad = good;
      std::memcpy(bad.values.data() + at, &value, sizeof value);
      EXPECT_FALSE(validate(bad, 3000).ok()) << at << ' ' << value;
    }
  }
}

TEST(OuterSum, RefusesRanksAboveItsLimitAndSumsThatMayOverflow) {
  GradientBlock block;
  block.length = block.count = 100 * 200;
  const std::vector<float> left(65 * 100, 1.0F);
  std::vector<float> right(65 * 200, 1.0F);
  write_outer(ValueCodec::low_rank, left, right, 65, block);
  EXPECT_FALSE(validate(block, block.length).ok());
  write_outer(ValueCodec::factors, left, right, 65, block);
  EXPECT_TRUE(validate(block, block.length).ok());
  std::fill(right.begin(), right.end(), 1e37F);
  write_outer(ValueCodec::factors, left, right, 65, block);
  EXPECT_FALSE(validate(block, block.length).ok());
}

TEST(PowerIteration, OrthonormalisesAndDropsWhatDepends) {
  auto vectors = normal_vector(5 * 40, 3);
  for (std::size_t i = 0; i < 40; ++i) vectors[3 * 40 + i] = 2 * vectors[i] - vectors[40 + i];
  orthonormalise(vectors, 5);
  for (std::size_t a = 0; a < 5; ++a) {
    for (std::size_t b = 0; b < 5; ++b) {
      double product = 0;
      for (std::size_t i = 0; i < 40; ++i) product += static_cast<double>(vectors[a * 40 + i]) * vectors[b * 40 + i];
      EXPECT_NEAR(product, a == b && a != 3 ? 1 : 0, 1e-6) << a << b;
    }
  }
}

TEST(LowRank, RefusesOptions) {
  for (const char* spec :
       {"low_rank rank=0", "low_rank rank=65", "low_rank x=1", "factors rank=0", "factors steps=0", "factors steps=17"}) {
    const auto made = try_compressor(spec);
    ASSERT_FALSE(made.ok()) << spec;
    EXPECT_EQ(made.error().code, Errc::bad_config);
  }
}

}  // namespace
}  // namespace hourglass::compress::testing
