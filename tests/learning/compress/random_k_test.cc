// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/random_k.h"

#include <gtest/gtest.h>

#include "learning/compress/error_feedback.h"
#include "tests/learning/compress/selectors.h"

namespace hourglass::compress::testing {
namespace {

TEST(RandomK, SendsExactlyKDifferentPlaces) {
  for (const std::size_t length : {1UL, 7UL, 8UL, 100UL, 4097UL, 100003UL}) {
    for (const double ratio : {0.001, 0.01, 0.3, 0.5, 0.6, 0.97, 1.0}) {
      const auto selector = selector_of("random_k ratio=" + std::to_string(ratio));
      const auto values = std::vector<float>(length, 2.0F);
      const Entries sent = selected(*selector, values, length);
      EXPECT_EQ(sent.indices.size(), entries_at(ratio, length)) << length << " at " << ratio;
      EXPECT_TRUE(are_entries_of(sent, values));
    }
  }
}

TEST(RandomK, AllWorkersChooseAlikeAtAStepAndOtherwiseAtAnother) {
  const std::size_t length = 50000;
  const auto one = selector_of("random_k ratio=0.01 seed=7");
  const auto two = selector_of("random_k ratio=0.01 seed=7");
  const auto other = selector_of("random_k ratio=0.01 seed=8");
  selected(*two, normal_vector(length, 9), 1);  // another history
  for (const std::uint64_t step : {0ULL, 1ULL, 5ULL, 1ULL << 40}) {
    const auto places = selected(*one, normal_vector(length, 1), step).indices;
    EXPECT_EQ(places, selected(*two, normal_vector(length, 2), step).indices);
    EXPECT_EQ(places, selected_of_sum(*two, normal_vector(length, 2), step).indices);
    EXPECT_NE(places, selected(*other, normal_vector(length, 1), step).indices);
    EXPECT_NE(places, selected(*one, normal_vector(length, 1), step + 1).indices);
  }
}

TEST(RandomK, EveryPlaceIsEquallyLikely) {
  for (const char* spec : {"random_k ratio=0.1", "random_k ratio=0.8"}) {
    const std::size_t length = 50;
    const int steps = 20000;
    const double share = std::string(spec).ends_with("0.1") ? 0.1 : 0.8;
    const auto selector = selector_of(spec);
    const std::vector<float> values(length, 1.0F);
    std::vector<int> times(length, 0);
    for (int step = 0; step < steps; ++step) {
      for (const std::uint32_t index : selected(*selector, values, static_cast<std::uint64_t>(step)).indices) ++times[index];
    }
    const double spread = std::sqrt(steps * share * (1 - share));
    for (const int count : times) EXPECT_NEAR(count, steps * share, 5 * spread);
  }
}

TEST(RandomK, RescaledItIsUnbiased) {
  const auto values = normal_vector(40, 3);
  const auto selector = selector_of("random_k ratio=0.25 rescale=1");
  EXPECT_FALSE(selector->keeps_range());
  EXPECT_FALSE(compressor_of("random_k ratio=0.25 rescale=1", 40)->keeps_range());
  const int steps = 40000;
  std::vector<double> sums(values.size(), 0.0);
  for (int step = 0; step < steps; ++step) {
    const Entries sent = selected(*selector, values, static_cast<std::uint64_t>(step));
    for (std::size_t i = 0; i < sent.indices.size(); ++i) sums[sent.indices[i]] += static_cast<double>(sent.values[i]);
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double spread = std::abs(static_cast<double>(values[i])) * std::sqrt(3.0 / steps);  // variance x^2 (n/k - 1)
    EXPECT_NEAR(sums[i] / steps, static_cast<double>(values[i]), 5 * spread);
  }
}

TEST(RandomK, RescaledItStaysWithinFloats) {
  const std::size_t length = 1000;
  const std::vector<float> values(length, -FLT_MAX);
  const auto compressor = compressor_of("random_k ratio=0.01 rescale=1", length);
  const auto out = decoded(compressor->compress(values, 0), length);
  EXPECT_EQ(std::count(out.begin(), out.end(), -FLT_MAX), 10);
  auto feedback = ErrorFeedback::make("random_k ratio=0.01 rescale=1", {{0, length, false}}, length);
  ASSERT_TRUE(feedback.ok());
  for (std::uint64_t step = 0; step < 200; ++step) {
    const bool ok = feedback->compress(std::vector<float>(length, 1e20F), step).ok();
    const auto residual = feedback->residual();
    ASSERT_TRUE(std::all_of(residual.begin(), residual.end(), [](float value) { return std::isfinite(value); }));
    if (!ok) break;  // no contraction: the residual grows until it is refused
  }
}

TEST(RandomK, ContractsLikeItsShare) {
  const auto values = normal_vector(20000, 4);
  const double all = std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
  double sent = 0;
  const auto selector = selector_of("random_k ratio=0.05");
  for (std::uint64_t step = 0; step < 100; ++step) {
    for (const float value : selected(*selector, values, step).values) sent += static_cast<double>(value) * static_cast<double>(value);
  }
  EXPECT_NEAR(sent / (100 * all), 0.05, 0.002);
}

TEST(RandomK, RefusesOptionsOutsideTheirRanges) {
  EXPECT_TRUE(refuses({"random_k ratio=0", "random_k ratio=2", "random_k seed=-1", "random_k rescale=2", "random_k k=5"}));
}

}  // namespace
}  // namespace hourglass::compress::testing
