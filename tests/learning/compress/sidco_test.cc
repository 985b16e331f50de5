// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/sidco.h"

#include <gtest/gtest.h>

#include "learning/compress/error_feedback.h"
#include "tests/learning/compress/selectors.h"

namespace hourglass::compress::testing {
namespace {

const char* const kDistributions[] = {"exponential", "gamma", "gpareto"};

/// Nothing larger than what is sent is kept.
bool has_no_gap(const Entries& sent, std::span<const float> values) {
  const auto largest = largest_of(values, sent.indices.size());
  return std::equal(sent.indices.begin(), sent.indices.end(), largest.begin(), largest.end());
}

TEST(Sidco, C22_AchievedPerTargetIsWithinTwo) {
  const std::size_t length = 100000;
  const int steps = 40;
  for (const char* distribution : kDistributions) {
    for (const Tail tail : {Tail::exponential, Tail::gamma, Tail::gpareto}) {
      for (const char* ratio : {"0.1", "0.01", "0.001"}) {
        SCOPED_TRACE(std::string(distribution) + " on " + std::to_string(static_cast<int>(tail)) + " at " + ratio);
        const auto selector = selector_of(std::string("sidco ratio=") + ratio + " dist=" + distribution);
        const double target = std::stod(ratio) * static_cast<double>(length);
        int good = 0;
        double sum = 0;
        for (std::uint64_t step = 0; step < steps; ++step) {
          const auto sent = static_cast<double>(selected(*selector, tail_vector(tail, length, step)).indices.size());
          good += static_cast<int>(sent >= 0.5 * target && sent <= 2 * target);
          sum += step >= steps / 2 ? sent / target : 0;
        }
        EXPECT_GE(good, 0.95 * steps);
        EXPECT_NEAR(2 * sum / steps, 1, 0.3);  // settled, far from the bounds that the cap enforces
      }
    }
  }
}

TEST(Sidco, C22_UnderErrorFeedback) {
  const std::size_t length = 100000;
  for (const char* distribution : kDistributions) {
    auto feedback = ErrorFeedback::make(std::string("sidco ratio=0.01 dist=") + distribution, {{0, length, false}}, length);
    ASSERT_TRUE(feedback.ok());
    int good = 0;
    for (std::uint64_t step = 0; step < 60; ++step) {
      const auto blocks = feedback->compress(tail_vector(Tail::gpareto, length, step), step);
      ASSERT_TRUE(blocks.ok());
      const auto sent = static_cast<double>(blocks->front().count);
      good += static_cast<int>(sent >= 500 && sent <= 2000);
    }
    EXPECT_GE(good, 57) << distribution;
  }
}

TEST(Sidco, SendsTheLargestWithoutAGap) {
  for (const char* distribution : kDistributions) {
    const auto selector = selector_of(std::string("sidco ratio=0.01 dist=") + distribution);
    for (const auto& [name, values] : hard_vectors()) {
      SCOPED_TRACE(name);
      const Entries sent = selected(*selector, values);
      const auto nonzero = largest_of(values, values.size()).size();
      const std::size_t k = entries_at(0.01, values.size());
      ASSERT_TRUE(are_entries_of(sent, values));
      ASSERT_TRUE(has_no_gap(sent, values));
      EXPECT_LE(sent.indices.size(), 2 * k);
      EXPECT_GE(2 * sent.indices.size(), std::min(k, nonzero));
    }
  }
}

TEST(Sidco, StagesAdaptAfterFiveFits) {
  // One exponential stage on a normal tail finds next to nothing, so the k largest are sent instead; with more stages the fit does it.
  const auto selector = selector_of("sidco ratio=0.001 stages=1");
  const auto values = normal_vector(200000, 3);
  const auto exact = largest_of(values, 200);
  for (int call = 0; call < 5; ++call) EXPECT_EQ(selected(*selector, values).indices, exact) << call;
  for (int call = 0; call < 40; ++call) selected(*selector, values);
  const Entries settled = selected(*selector, values);
  EXPECT_NE(settled.indices.size(), 200U);
  EXPECT_NEAR(static_cast<double>(settled.indices.size()), 200, 100);
}

TEST(Sidco, AReusedThresholdServesAndIsGivenUpWhereItNoLongerFits) {
  const auto selector = selector_of("sidco ratio=0.01 reuse=5");
  for (std::uint64_t step = 0; step < 24; ++step) {
    auto values = tail_vector(Tail::exponential, 100000, step);
    const float scale = step % 7 == 3 ? 100.0F : (step % 7 == 5 ? 1e-20F : 1.0F);
    for (float& value : values) value *= scale;
    const Entries sent = step % 2 == 0 ? selected(*selector, values) : selected_of_sum(*selector, values);
    EXPECT_TRUE(are_entries_of(sent, values));
    EXPECT_TRUE(has_no_gap(sent, values));
    EXPECT_NEAR(static_cast<double>(sent.indices.size()), 1000, 300) << step;
  }
}

TEST(Sidco, ARatioPolicySetsTheTarget) {
  const auto values = tail_vector(Tail::exponential, 100000, 1);
  const auto selector = selector_of("sidco ratio=0.01 reuse=10");
  selected(*selector, values);
  selector->set_ratio(0.05);
  EXPECT_NEAR(static_cast<double>(selected(*selector, values).indices.size()), 5000, 1000);
}

TEST(Sidco, C5_TheLastPlaceIsSent) { EXPECT_TRUE(sends_the_last("sidco ratio=0.01")); }

TEST(Sidco, RefusesOptionsOutsideTheirRanges) {
  EXPECT_TRUE(refuses({"sidco ratio=0", "sidco dist=normal", "sidco stages=0", "sidco stages=21", "sidco reuse=0", "sidco k=5"}));
}

}  // namespace
}  // namespace hourglass::compress::testing
