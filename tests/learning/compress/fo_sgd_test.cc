// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/fo_sgd.h"

#include <gtest/gtest.h>

#include "learning/compress/kernels.h"
#include "tests/learning/compress/hostile.h"

namespace hourglass::compress::testing {
namespace {

TEST(Hadamard, IsOrthogonalAndItsOwnInverseForEverySize) {
  for (std::size_t n = 8; n <= 65536; n *= 2) {
    const auto x = normal_vector(n, n);
    auto y = x;
    kernels().hadamard(y.data(), n);
    const auto scale = static_cast<double>(n);
    EXPECT_NEAR(energy(y) / scale, energy(x), 1e-5 * energy(x));
    kernels().hadamard(y.data(), n);
    for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(y[i] / scale, x[i], 1e-5) << n;
  }
}

TEST(Hadamard, IsSylvestersMatrix) {
  constexpr std::size_t kSize = 64;
  for (std::size_t column = 0; column < kSize; ++column) {
    std::vector<float> unit(kSize, 0.0F);
    unit[column] = 1;
    kernels().hadamard(unit.data(), kSize);
    for (std::size_t row = 0; row < kSize; ++row) ASSERT_EQ(unit[row], std::popcount(row & column) % 2 == 0 ? 1 : -1);
  }
}

TEST(FoSgd, IsUnbiased) {
  constexpr int kRounds = 4000;
  const std::size_t length = 100;  // one block of 128
  const auto x = normal_vector(length, 4);
  auto compressor = compressor_of("fo_sgd form=unbiased", length);
  std::vector<double> mean(length, 0.0);
  std::vector<double> square(length, 0.0);
  for (int round = 0; round < kRounds; ++round) {
    const auto out = decoded(compressor->compress(x, static_cast<std::uint64_t>(round)), length);
    for (std::size_t i = 0; i < length; ++i) {
      mean[i] += out[i] / kRounds;
      square[i] += static_cast<double>(out[i]) * out[i] / kRounds;
    }
  }
  for (std::size_t i = 0; i < length; ++i) {
    const double sigma = std::sqrt((square[i] - mean[i] * mean[i]) / kRounds);
    EXPECT_NEAR(mean[i], x[i], 4.5 * sigma) << i;
  }
}

TEST(FoSgd, ErrorIsWhatTheFormulaSays) {
  const std::size_t length = 1 << 16;
  const auto x = normal_vector(length, 5);
  const auto sign = decoded(compressor_of("fo_sgd form=sign", length)->compress(x, 1), length);
  EXPECT_NEAR(squared_error(x, sign) / energy(x), 1 - 2 / M_PI, 0.01);
  const auto noisy = decoded(compressor_of("fo_sgd clip=4", length)->compress(x, 1), length);  // n lambda^2 = 16 |x|^2
  EXPECT_NEAR(squared_error(x, noisy) / energy(x), 15, 0.3);
  const auto least = decoded(compressor_of("fo_sgd", length)->compress(x, 1), length);
  EXPECT_LT(squared_error(x, least) / energy(x), 2 * std::log(2 * 4096 / 0.01));
}

TEST(FoSgd, OneSpikeIsFlattenedAndComesBackExactly) {
  std::vector<float> x(4096, 0.0F);
  x[1234] = -8;
  const auto out = decoded(compressor_of("fo_sgd form=sign", x.size())->compress(x, 3), x.size());
  EXPECT_EQ(out, x);
}

TEST(FoSgd, HardVectorsBehave) {
  for (const char* spec : {"fo_sgd", "fo_sgd clip=1 block=64"}) expect_hard_vectors_behave(spec);
}

TEST(FoSgd, HostileBlobsAreHarmless) {
  expect_hostile_values_harmless(compressor_of("fo_sgd block=64", 300)->compress(normal_vector(300, 2), 0), 300);
}

TEST(FoSgd, CostsOneBitAnElement) {
  const std::size_t length = std::size_t{10} * 4096;
  const GradientBlock block = compressor_of("fo_sgd", length)->compress(normal_vector(length, 1), 0);
  EXPECT_EQ(payload(block), 9 + 10 * (4 + 4096 / 8));
}

TEST(FoSgd, ResidualStaysBoundedWithSigns) {
  const std::size_t length = 5000;
  auto feedback = feedback_of("fo_sgd form=sign", length);
  double largest = 0;
  for (std::uint64_t step = 0; step < 60; ++step) {
    ASSERT_TRUE(feedback.compress(normal_vector(length, step), step).ok());
    largest = std::max(largest, feedback.residual_norm());
  }
  EXPECT_LT(largest, 3 * std::sqrt(static_cast<double>(length)));
}

TEST(FoSgd, RefusesMagnitudesOutOfRangeAndOtherSizes) {
  const GradientBlock good = compressor_of("fo_sgd", 100)->compress(normal_vector(100, 1), 0);
  ASSERT_TRUE(validate(good, 100).ok());
  for (const float lambda : {-1.0F, FLT_MAX, HUGE_VALF, std::nanf("")}) {
    GradientBlock bad = good;
    std::memcpy(bad.values.data() + 9, &lambda, sizeof lambda);
    EXPECT_FALSE(validate(bad, 100).ok()) << lambda;
  }
  for (const int bits : {0, 5, 17, 63, 64, 255}) {
    GradientBlock bad = good;
    bad.values[8] = static_cast<std::byte>(bits);
    EXPECT_FALSE(validate(bad, 100).ok()) << bits;
  }
  GradientBlock huge = good;
  huge.length = huge.count = limits::kParameters;
  EXPECT_FALSE(validate(huge, limits::kParameters).ok());
}

TEST(FoSgd, RefusesOptions) {
  for (const char* spec :
       {"fo_sgd block=100", "fo_sgd block=32", "fo_sgd block=131072", "fo_sgd clip=-1", "fo_sgd form=other", "fo_sgd x=1"}) {
    const auto made = try_compressor(spec);
    ASSERT_FALSE(made.ok()) << spec;
    EXPECT_EQ(made.error().code, Errc::bad_config);
  }
}

}  // namespace
}  // namespace hourglass::compress::testing
