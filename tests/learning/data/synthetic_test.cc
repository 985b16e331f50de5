// SPDX-License-Identifier: Apache-2.0
#include "learning/data/synthetic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace hourglass::data {
namespace {

Dataset load(Split split, std::uint64_t seed) { return load_dataset("synthetic", "", split, seed).value(); }

std::uint64_t bytes_print(const Dataset& dataset) {
  Bytes all;
  for (std::size_t i = 0; i < dataset.size(); ++i) all.insert(all.end(), dataset.image(i).begin(), dataset.image(i).end());
  return fingerprint(all);
}

TEST(Synthetic, HasItsSizesAndBalancedClasses) {
  const Dataset train = load(Split::train, 1);
  const Dataset test = load(Split::test, 1);
  EXPECT_EQ(train.size(), 6000U);
  EXPECT_EQ(test.size(), 1000U);
  std::vector<int> counts(10);
  for (std::size_t i = 0; i < test.size(); ++i) ++counts[test.label(i)];
  EXPECT_EQ(counts, std::vector<int>(10, 100));
}

TEST(Synthetic, TheSeedGivesTheBytes) {
  const std::uint64_t first = bytes_print(load(Split::test, 1));
  EXPECT_EQ(first, bytes_print(load(Split::test, 1)));
  EXPECT_NE(first, bytes_print(load(Split::test, 2)));
  EXPECT_EQ(first, 4353594594849354884U) << "recorded; the same on every machine";
}

TEST(Synthetic, SplitsShareNoSample) {
  const Dataset train = load(Split::train, 1);
  const Dataset test = load(Split::test, 1);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_FALSE(std::ranges::equal(train.image(i), test.image(i)));
}

TEST(Synthetic, MeanAndDeviationAreNearTheRows) {
  const DatasetRow& row = **find_dataset("synthetic");
  for (const std::uint64_t seed : {1U, 2U, 77U}) {
    const Dataset train = load(Split::train, seed);
    double sum = 0.0;
    double squares = 0.0;
    for (std::size_t i = 0; i < train.size(); ++i) {
      for (const std::byte each : train.image(i)) {
        const double value = std::to_integer<int>(each) / 255.0;
        sum += value;
        squares += value * value;
      }
    }
    const double count = static_cast<double>(train.size() * train.sample_bytes());
    const double mean = sum / count;
    EXPECT_NEAR(mean, row.mean[0], 0.01) << seed;
    EXPECT_NEAR(std::sqrt(squares / count - mean * mean), row.deviation[0], 0.01) << seed;
  }
}

/// Softmax regression, the smallest net there is, on one pass over the training samples.
TEST(Synthetic, ASmallNetLearnsIt) {
  constexpr std::size_t kPixels = 784;
  const DatasetRow& row = **find_dataset("synthetic");
  for (const std::uint64_t seed : {1U, 5U}) {
    std::vector<float> weights(10 * kPixels);
    std::vector<float> pixels(kPixels);
    const auto scores = [&](const Dataset& from, std::size_t i) {
      normalise(from.image(i), 1, kPixels, row.mean, row.deviation, pixels);
      std::vector<float> out(10);
      for (std::size_t c = 0; c < 10; ++c) {
        for (std::size_t p = 0; p < kPixels; ++p) out[c] += weights[c * kPixels + p] * pixels[p];
      }
      return out;
    };
    const Dataset train = load(Split::train, seed);
    for (const std::uint32_t i : epoch_order(train.size(), seed, 0)) {
      std::vector<float> out = scores(train, i);
      const float top = *std::ranges::max_element(out);
      float total = 0.0F;
      for (float& each : out) total += each = std::exp(each - top);
      for (std::size_t c = 0; c < 10; ++c) {
        const float step = 0.001F * (out[c] / total - (train.label(i) == c ? 1.0F : 0.0F));
        for (std::size_t p = 0; p < kPixels; ++p) weights[c * kPixels + p] -= step * pixels[p];
      }
    }
    const Dataset test = load(Split::test, seed);
    std::size_t hits = 0;
    for (std::size_t i = 0; i < test.size(); ++i) {
      const std::vector<float> out = scores(test, i);
      hits += static_cast<std::size_t>(std::ranges::max_element(out) - out.begin()) == test.label(i) ? 1 : 0;
    }
    EXPECT_GT(hits, 950U) << seed;
  }
}

}  // namespace
}  // namespace hourglass::data
