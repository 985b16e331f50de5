// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/learning/compress/published_stream.h"

namespace hourglass::compress::testing {
namespace {

const std::vector<std::string> kMetrics = {"recency", "frequency", "consensus", "hysteresis"};

std::string spec_of(const std::string& metric, const std::string& options = "") {
  return "aggregation_aware ratio=0.02 metric=" + metric + (options.empty() ? "" : " ") + options;
}

Entries every(std::size_t stride, std::size_t length, float value = 1) {
  Entries out;
  for (std::size_t i = 0; i < length; i += stride) {
    out.indices.push_back(static_cast<std::uint32_t>(i));
    out.values.push_back(value);
  }
  return out;
}

/// Chooses alike at every step of a stream in which much is published.
void expect_topk(const std::string& spec) {
  constexpr std::size_t kLength = 10000;
  const auto compressor = compressor_of(spec, kLength);
  const auto topk = compressor_of("topk ratio=0.02", kLength);
  for (std::uint64_t step = 0; step < 5; ++step) {
    const auto values = normal_vector(kLength, step);
    EXPECT_TRUE(equal(compressor->compress(values, step), topk->compress(values, step))) << spec << " at " << step;
    compressor->observe(every(7 + step, kLength, 100));
  }
}

TEST(AggregationAware, IsTopkWhereNothingElseWeighs) {
  for (const auto& metric : kMetrics) {
    expect_topk(spec_of(metric, "explore=1"));
    if (metric != "recency") expect_topk(spec_of(metric, "lambda=0"));
  }
}

TEST(AggregationAware, PublishedEntriesComeFirstButForTheShareOfExploration) {
  constexpr std::size_t kLength = 10000;  // k = 200, of which 160 by rank
  const auto values = normal_vector(kLength, 3);
  for (const auto& metric : kMetrics) {
    const auto compressor = compressor_of(spec_of(metric, metric == "recency" ? "" : "lambda=1000"), kLength);
    const auto topk = decoded(compressor_of("topk ratio=0.02", kLength)->compress(values, 0), kLength);
    for (int round = 0; round < 3; ++round) compressor->observe(every(20, kLength));
    const auto out = decoded(compressor->compress(values, 0), kLength);
    std::size_t published = 0, others = 0;
    for (std::size_t i = 0; i < kLength; ++i) {
      published += static_cast<std::size_t>(out[i] != 0 && i % 20 == 0);
      others += static_cast<std::size_t>(out[i] != 0 && i % 20 != 0);
      if (out[i] != 0 && i % 20 != 0) {
        EXPECT_NE(topk[i], 0) << metric << ": exploration is by magnitude";
      }
    }
    EXPECT_GE(published, 160U) << metric;
    EXPECT_EQ(published + others, 200U) << metric;
    EXPECT_GE(others, 20U) << metric;
  }
}

TEST(AggregationAware, WindowsAndAveragesForget) {
  constexpr std::size_t kLength = 10000;
  const auto values = normal_vector(kLength, 3);
  for (const std::string options : {"metric=recency window=4", "metric=hysteresis window=4 lambda=1000"}) {
    const auto compressor = compressor_of("aggregation_aware ratio=0.02 explore=0 " + options, kLength);
    compressor->observe(every(20, kLength));
    std::vector<std::size_t> kept;
    for (int round = 0; round < 6; ++round) {
      const auto out = decoded(compressor->compress(values, 0), kLength);
      std::size_t count = 0;
      for (std::size_t i = 0; i < kLength; i += 20) count += static_cast<std::size_t>(out[i] != 0);
      kept.push_back(count);
      compressor->observe({{1}, {1.0F}});
    }
    for (int round = 0; round < 4; ++round) EXPECT_GE(kept[static_cast<std::size_t>(round)], 199U) << options << round;
    EXPECT_LT(kept[4], 30U) << options;
  }
  const auto frequency = compressor_of("aggregation_aware ratio=0.02 explore=0 metric=frequency alpha=0.5 lambda=1000", kLength);
  frequency->observe(every(20, kLength));
  for (int round = 0; round < 300; ++round) frequency->observe({{1}, {1.0F}});  // through the end of the common scale
  const auto out = decoded(frequency->compress(values, 0), kLength);
  auto expected = decoded(compressor_of("topk ratio=0.02", kLength)->compress(values, 0), kLength);
  std::size_t other = 0;
  for (std::size_t i = 0; i < kLength; ++i) other += static_cast<std::size_t>((out[i] != 0) != (expected[i] != 0));
  EXPECT_LE(other, 2U) << "but for the one that is published all the time";
}

TEST(AggregationAware, ConsensusAveragesWithSigns) {
  const auto compressor = compressor_of("aggregation_aware ratio=0.25 explore=0 metric=consensus alpha=0.5 lambda=10", 4);
  const std::vector<float> values = {1, 2, 3, 4};
  for (int round = 0; round < 40; ++round) compressor->observe({{0, 1}, {1.0F, round % 2 == 0 ? 2.0F : -2.0F}});
  const auto out = decoded(compressor->compress(values, 0), 4);
  EXPECT_EQ(out, std::vector<float>({1, 0, 0, 0}));  // 1 + 10 * 1 against 2 + 10 * 2/3
}

TEST(AggregationAware, ZerosOfADensePublicationTellNothing) {
  for (const auto& metric : kMetrics) {
    const auto compressor = compressor_of(spec_of(metric, "explore=0"), 100);
    Entries dense = every(1, 100, 0);
    for (std::size_t i = 0; i < 10; ++i) dense.values[10 * i] = 50;
    compressor->observe(dense);
    std::vector<float> values(100, 1.5F);
    values[11] = 1.6F;
    const auto out = decoded(compressor->compress(values, 0), 100);
    for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(out[i] != 0, i == 0 || i == 10) << metric << i;
  }
}

TEST(AggregationAware, ExtremesStayInOrderAndWithinK) {
  for (const auto& metric : kMetrics) {
    for (const auto& [name, values] : hard_vectors()) {
      SCOPED_TRACE(metric + " " + name);
      const auto compressor = compressor_of(spec_of(metric), values.size());
      for (int round = 0; round < 3; ++round) {
        compressor->observe(every(3, values.size(), round == 1 ? -FLT_MAX : FLT_MAX));
        const GradientBlock block = compressor->compress(values, 0);
        ASSERT_TRUE(validate(block, values.size()).ok());
        const auto nonzero = static_cast<std::size_t>(std::count_if(values.begin(), values.end(), [](float v) { return v != 0; }));
        const auto k = static_cast<std::size_t>(std::max(1.0, std::ceil(0.02 * static_cast<double>(values.size()) * (1 - 1e-12))));
        EXPECT_EQ(block.count, std::min(nonzero, k));
      }
    }
  }
}

TEST(AggregationAware, UnionOfTheWorkersShrinksOnAPlantedHotSet) {
  constexpr std::size_t kLength = 5000;  // k = 100, and 100 hot entries
  for (const std::size_t workers : {4UL, 8UL, 16UL}) {
    const double topk = mean_union("topk ratio=0.02", workers, kLength);
    for (const auto& metric : kMetrics) {
      EXPECT_LT(mean_union(spec_of(metric), workers, kLength), 0.95 * topk) << metric << " of " << workers;
    }
    EXPECT_LT(mean_union(spec_of("recency", "explore=0.1"), workers, kLength),
              mean_union(spec_of("recency", "explore=0.7"), workers, kLength));
    Rounds rounds(spec_of("recency"), workers, kLength);
    HotSet stream(kLength);
    for (int round = 0; round < 10; ++round) rounds.run([&](std::size_t) { return stream.next(); });
    EXPECT_EQ(rounds.largest, 100U);
  }
}

/// A cold entry with a small constant gradient among hot ones that are published all the time.
TEST(AggregationAware, WhatGrowsIsSentAtLast) {
  constexpr std::size_t kLength = 200, kCold = 101;
  for (const auto& metric : kMetrics) {
    Rounds rounds("aggregation_aware ratio=0.05 metric=" + metric, 2, kLength);
    std::size_t sent_at = 0;
    for (std::size_t round = 1; round <= 5000 && sent_at == 0; ++round) {
      std::vector<float> delta(kLength, 0.0F);
      for (std::size_t i = 0; i < 20; ++i) delta[i] = 1;
      delta[kCold] = 1e-2F;
      rounds.run([&](std::size_t) { return std::span<const float>(delta); });
      if (rounds.sent[0][kCold] != 0) sent_at = round;
    }
    // Of 20 entries that grow by 1 a round, 2 or more go out by magnitude: none waits until it is larger than a few times 20.
    EXPECT_GT(sent_at, 1U) << metric;
    EXPECT_NE(sent_at, 0U) << metric;
  }
}

TEST(AggregationAware, RefusesWhatItsMetricDoesNotUse) {
  const auto refusal = [](const std::string& spec) {
    const auto made = try_compressor(spec);
    return made.ok() ? std::string() : made.error().text;
  };
  EXPECT_NE(refusal("aggregation_aware metric=oracle").find("recency, frequency, consensus, hysteresis"), std::string::npos);
  EXPECT_NE(refusal("aggregation_aware lambda=2").find("lambda"), std::string::npos);
  EXPECT_NE(refusal("aggregation_aware metric=frequency window=3").find("window"), std::string::npos);
  EXPECT_NE(refusal("aggregation_aware metric=hysteresis alpha=0.5").find("alpha"), std::string::npos);
  for (const char* bad : {"explore=1.5", "ratio=0", "window=0", "metric=frequency alpha=0", "metric=consensus lambda=-1"}) {
    EXPECT_NE(refusal(std::string("aggregation_aware ") + bad), "") << bad;
  }
}

}  // namespace
}  // namespace hourglass::compress::testing
