// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/tail_fit.h"

#include <gtest/gtest.h>

#include "tests/learning/compress/selectors.h"

namespace hourglass::compress::testing {
namespace {

std::size_t above(std::span<const float> values, double threshold) {
  return static_cast<std::size_t>(
      std::count_if(values.begin(), values.end(), [&](float value) { return static_cast<double>(std::abs(value)) > threshold; }));
}

TEST(TailFit, GammaQuantilesAreThoseOfKnownDistributions) {
  for (const double share : {0.9, 0.25, 0.1, 1e-3, 1e-6}) {
    EXPECT_NEAR(gamma_exceeded(1, share), -std::log(share), 1e-9);  // exponential
    const double x = gamma_exceeded(0.5, share);
    EXPECT_NEAR(std::erfc(std::sqrt(x)), share, 1e-9 * share + 1e-15);
    const double y = gamma_exceeded(3, share);  // Erlang
    EXPECT_NEAR(std::exp(-y) * (1 + y + y * y / 2), share, 1e-9);
  }
  for (const double shape : {1e-3, 0.1, 10.0, 1e3}) EXPECT_TRUE(std::isfinite(gamma_exceeded(shape, 0.01))) << shape;
}

TEST(TailFit, KernelsGiveTheMomentsAndTheSumOfLogarithms) {
  for (const std::size_t length : {0UL, 1UL, 7UL, 8UL, 4097UL, 50000UL}) {
    auto values = tail_vector(Tail::gamma, length, length);
    for (std::size_t i = 0; i < length; i += 9) values[i] = 0;
    for (const float boundary : {0.0F, 0.7F}) {
      double sum = 0;
      double squares = 0;
      double logs = 0;
      for (const float value : values) {
        const double magnitude = std::abs(static_cast<double>(value));
        if (magnitude > static_cast<double>(boundary)) {
          sum += magnitude;
          squares += magnitude * magnitude;
        }
        if (magnitude > 0) logs += std::log2(magnitude);
      }
      const TailMoments fast = kernels().tail_moments(values.data(), length, boundary);
      const TailMoments plain = baseline_kernels().tail_moments(values.data(), length, boundary);
      EXPECT_EQ(fast.count, above(values, static_cast<double>(boundary)));
      EXPECT_NEAR(fast.sum, sum, 1e-9 * sum);
      EXPECT_NEAR(fast.squares, squares, 1e-9 * squares);
      EXPECT_EQ(fast.sum, plain.sum);
      EXPECT_EQ(fast.squares, plain.squares);
      EXPECT_EQ(fast.count, plain.count);
      const LogSum log = kernels().log_sum(values.data(), length);
      EXPECT_NEAR(static_cast<double>(log.exponents) + std::log2(log.mantissas), logs, 1e-9 * std::abs(logs) + 1e-6);
      EXPECT_EQ(log.exponents, baseline_kernels().log_sum(values.data(), length).exponents);
      EXPECT_EQ(log.mantissas, baseline_kernels().log_sum(values.data(), length).mantissas);
    }
  }
}

/// With the distribution that the values have, one stage is within sampling error; so is every number of stages.
TEST(TailFit, FindsTheShareOfItsOwnDistribution) {
  const std::size_t length = 300000;
  for (const auto& [shape, tail] : {std::pair{TailShape::exponential, Tail::exponential},
                                    {TailShape::gamma, Tail::gamma},
                                    {TailShape::gpareto, Tail::gpareto},
                                    {TailShape::gamma, Tail::exponential},
                                    {TailShape::gpareto, Tail::exponential}}) {
    const auto values = tail_vector(tail, length, 5);
    for (const std::size_t k : {30000UL, 3000UL, 300UL}) {
      for (const int stages : {1, 2, 3, 5}) {
        const auto found = static_cast<double>(above(values, staged_threshold(values, k, shape, stages)));
        const double off = k == 300 ? 1.35 : 1.2;
        EXPECT_GT(found * off, static_cast<double>(k)) << static_cast<int>(tail) << " stages " << stages;
        EXPECT_LT(found, static_cast<double>(k) * off) << static_cast<int>(tail) << " stages " << stages;
      }
    }
  }
}

TEST(TailFit, MoreStagesMendAFitOfTheWrongKind) {
  const std::size_t length = 300000;
  for (const Tail tail : {Tail::normal, Tail::gpareto}) {
    const auto values = tail_vector(tail, length, 6);
    const auto error = [&](int stages) {
      const auto found = static_cast<double>(above(values, staged_threshold(values, 300, TailShape::exponential, stages)));
      return std::abs(std::log((found + 0.5) / 300));
    };
    EXPECT_GT(error(1), error(4));
    EXPECT_LT(error(6), std::log(2.0));
  }
}

TEST(TailFit, ZerosAreLeftOut) {
  auto values = tail_vector(Tail::exponential, 200000, 7);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i % 10 == 0 ? values[i] : 0.0F;
  for (const TailShape shape : {TailShape::exponential, TailShape::gamma, TailShape::gpareto}) {
    EXPECT_NEAR(static_cast<double>(above(values, staged_threshold(values, 2000, shape, 2))), 2000, 300);
  }
  EXPECT_EQ(staged_threshold(std::vector<float>(5000, -0.0F), 50, TailShape::gamma, 3), 0);
}

TEST(TailFit, IsFiniteWhateverTheValues) {
  for (const auto& [name, values] : hard_vectors()) {
    if (values.empty()) continue;
    for (const TailShape shape : {TailShape::exponential, TailShape::gamma, TailShape::gpareto}) {
      for (const int stages : {1, 2, 7}) {
        const double threshold = staged_threshold(values, std::max<std::size_t>(1, values.size() / 1000), shape, stages);
        EXPECT_TRUE(threshold >= 0 && threshold <= static_cast<double>(FLT_MAX)) << name;
      }
    }
  }
}

}  // namespace
}  // namespace hourglass::compress::testing
