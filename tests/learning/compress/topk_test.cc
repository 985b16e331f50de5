// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/topk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/learning/compress/vectors.h"

namespace hourglass::compress::testing {
namespace {

std::unique_ptr<Selector> topk(const std::string& ratio) {
  auto stages = parse_spec("topk ratio=" + ratio);
  HG_CHECK(stages.ok(), "spec");
  auto made = make_topk(stages->front(), {});
  HG_CHECK(made.ok(), made.ok() ? "" : made.error().text);
  return std::move(made).value();
}

/// The definition, by std::nth_element on (|x| descending, index ascending).
std::vector<std::uint32_t> oracle(const std::vector<float>& values, std::size_t k) {
  std::vector<std::uint32_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    const float x = std::abs(values[a]);
    const float y = std::abs(values[b]);
    return x != y ? x > y : a < b;
  };
  std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k) - 1, order.end(), before);
  order.resize(k);
  std::erase_if(order, [&](std::uint32_t index) { return values[index] == 0; });
  std::sort(order.begin(), order.end());
  return order;
}

void expect_exact(Selector& selector, const std::vector<float>& values, std::size_t k) {
  Entries chosen;
  ASSERT_TRUE(selector.select(values, 0, chosen));
  ASSERT_EQ(chosen.indices, oracle(values, k));
  ASSERT_EQ(chosen.values.size(), chosen.indices.size());
  for (std::size_t i = 0; i < chosen.indices.size(); ++i) ASSERT_EQ(chosen.values[i], values[chosen.indices[i]]);
}

TEST(TopK, EqualsTheDefinition) {
  for (const std::size_t length : {1UL, 2UL, 100UL, 4096UL, 4097UL, 65536UL, 300000UL}) {
    for (const char* ratio : {"0.0001", "0.001", "0.01", "0.1", "0.3", "1"}) {
      SCOPED_TRACE(std::to_string(length) + " at " + ratio);
      const auto selector = topk(ratio);
      const auto k = static_cast<std::size_t>(std::max(1.0, std::ceil(std::stod(ratio) * static_cast<double>(length) - 1e-6)));
      for (std::uint64_t seed = 0; seed < 3; ++seed) expect_exact(*selector, normal_vector(length, seed), k);
    }
  }
}

TEST(TopK, TiesGoToTheLowerIndex) {
  const auto selector = topk("0.01");
  Random random(4);
  for (const unsigned kinds : {1U, 2U, 3U, 10U, 100U}) {
    std::vector<float> values(50000);
    for (auto& value : values) value = static_cast<float>(random.below(kinds)) * (random.below(2) == 0 ? 1.0F : -1.0F);
    SCOPED_TRACE(kinds);
    expect_exact(*selector, values, 500);
  }
  expect_exact(*selector, std::vector<float>(50000, 2.5F), 500);
}

TEST(TopK, ASampleThatMisleadsCostsTimeOnly) {
  const auto selector = topk("0.01");
  std::vector<float> periodic(1 << 20);
  for (std::size_t i = 0; i < periodic.size(); ++i)
    periodic[i] = i % 64 == 32 ? 10.0F + static_cast<float>(i % 4096) : 1e-3F * static_cast<float>(i % 999);
  const auto k = static_cast<std::size_t>(std::ceil(0.01 * static_cast<double>(periodic.size())));
  expect_exact(*selector, periodic, k);
  for (std::size_t i = 0; i < periodic.size(); ++i) periodic[i] = i % 64 == 32 ? 0.0F : 1e-3F * static_cast<float>(1 + i % 99991);
  expect_exact(*selector, periodic, k);
  std::vector<float> sorted(1 << 18);
  for (std::size_t i = 0; i < sorted.size(); ++i) sorted[i] = static_cast<float>(i);
  expect_exact(*selector, sorted, static_cast<std::size_t>(std::ceil(0.01 * static_cast<double>(sorted.size()))));
}

TEST(TopK, AGuessFromTheLastCallCostsTimeOnly) {
  const auto selector = topk("0.01");
  for (const float scale : {1.0F, 1.1F, 0.5F, 100.0F, 1e-30F, 1e30F, 0.0F, 1.0F}) {
    auto values = normal_vector(200000, 17);
    for (auto& value : values) value *= scale;
    SCOPED_TRACE(scale);
    expect_exact(*selector, values, 2000);
  }
  expect_exact(*selector, normal_vector(5000, 3), 50);  // another length
}

TEST(TopK, FewerThanKNonZeroAreAllThatIsSent) {
  const auto selector = topk("0.01");
  std::vector<float> values(100000, 0.0F);
  for (const std::size_t at : {3UL, 50UL, 99999UL}) values[at] = -FLT_TRUE_MIN;
  expect_exact(*selector, values, 1000);
}

TEST(TopK, RatioRoundsUpButForgivesTheLastBit) {
  for (const auto& [ratio, length, k] : std::vector<std::tuple<const char*, std::size_t, std::size_t>>{
           {"0.07", 100, 7}, {"0.01", 100, 1}, {"0.01", 101, 2}, {"0.01", 5, 1}, {"1", 9, 9}, {"0.1", 30, 3}}) {
    Entries chosen;
    const std::vector<float> ones(length, 1.0F);
    topk(ratio)->select(ones, 0, chosen);
    EXPECT_EQ(chosen.indices.size(), k) << ratio << " of " << length;
  }
}

TEST(TopK, FindsTheMagnitudeOfARank) {
  auto values = normal_vector(10007, 8);
  std::vector<float> sorted = values;
  std::sort(sorted.begin(), sorted.end(), [](float a, float b) { return std::abs(a) > std::abs(b); });
  for (const std::size_t rank : {1UL, 2UL, 100UL, 5000UL, 10007UL}) {
    const RankedMagnitude found = find_magnitude(values, rank);
    EXPECT_EQ(std::bit_cast<float>(found.bits), std::abs(sorted[rank - 1]));
    EXPECT_EQ(found.larger, rank - 1);
  }
}

TEST(TopK, RefusesRatiosOutsideItsRange) {
  for (const char* spec :
       {"topk ratio=0", "topk ratio=-0.1", "topk ratio=1.5", "topk ratio=nan", "topk ratio=x", "topk share=0.1", "topk 0.1"}) {
    const auto made = try_compressor(spec);
    ASSERT_FALSE(made.ok()) << spec;
    EXPECT_EQ(made.error().code, Errc::bad_config);
  }
}

}  // namespace
}  // namespace hourglass::compress::testing
