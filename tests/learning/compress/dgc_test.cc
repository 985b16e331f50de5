// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/dgc.h"

#include <gtest/gtest.h>

#include "tests/learning/compress/selectors.h"

namespace hourglass::compress::testing {
namespace {

/// At most k, at least 0.8 k where there are that many, no gap: what is sent is at least what is kept. Exact where there are k.
void expect_nearly_largest(const Entries& sent, std::span<const float> values, std::size_t k) {
  ASSERT_TRUE(are_entries_of(sent, values));
  const auto exact = largest_of(values, k);
  ASSERT_LE(sent.indices.size(), exact.size());
  ASSERT_GE(static_cast<double>(sent.indices.size()), 0.8 * static_cast<double>(exact.size()) - 1);
  ASSERT_TRUE(std::includes(exact.begin(), exact.end(), sent.indices.begin(), sent.indices.end()));
}

TEST(Dgc, SendsTheLargestNearlyKOfThem) {
  for (const Tail tail : {Tail::exponential, Tail::gamma, Tail::gpareto, Tail::normal}) {
    for (const char* ratio : {"0.1", "0.01", "0.001"}) {
      const auto selector = selector_of(std::string("dgc ratio=") + ratio);
      for (std::uint64_t step = 0; step < 6; ++step) {
        const auto values = tail_vector(tail, 100000, step);
        expect_nearly_largest(selected(*selector, values, step), values, entries_at(std::stod(ratio), values.size()));
      }
    }
  }
}

TEST(Dgc, AReusedThresholdServesAndIsGivenUpWhereItNoLongerFits) {
  const auto selector = selector_of("dgc ratio=0.01 reuse=4");
  for (std::uint64_t step = 0; step < 24; ++step) {
    auto values = normal_vector(100000, step);
    const float scale = step % 7 == 3 ? 100.0F : (step % 7 == 5 ? 1e-20F : 1.0F);
    for (float& value : values) value *= scale;
    SCOPED_TRACE(step);
    expect_nearly_largest(step % 2 == 0 ? selected(*selector, values, step) : selected_of_sum(*selector, values, step), values, 1000);
  }
}

TEST(Dgc, ASampleThatMisleadsStaysWithinBounds) {
  const auto selector = selector_of("dgc ratio=0.01");
  std::vector<float> steps(200000);  // one step of a stair holds many more than k
  for (std::size_t i = 0; i < steps.size(); ++i) steps[i] = i % 10 == 0 ? 2.0F : 1.0F;
  EXPECT_EQ(selected(*selector, steps).indices, largest_of(steps, 2000));
  std::vector<float> few(200000, 0.0F);
  for (const std::size_t at : {5UL, 77777UL, 199999UL}) few[at] = -FLT_TRUE_MIN;
  EXPECT_EQ(selected(*selector, few).indices, (std::vector<std::uint32_t>{5, 77777, 199999}));
  std::vector<float> cliff(200000, 1e-30F);  // ten times 0.8 does not get down to the others
  for (std::size_t i = 0; i < 1000; ++i) cliff[i * 199] = -1.0F;
  const auto sent = selected(*selector, cliff);
  EXPECT_GE(sent.indices.size(), 1000U);
  EXPECT_LE(sent.indices.size(), 2000U);
}

TEST(Dgc, ARatioPolicySetsK) {
  const auto values = normal_vector(100000, 1);
  const auto selector = selector_of("dgc ratio=0.01 reuse=10");
  selected(*selector, values);
  selector->set_ratio(0.05);
  expect_nearly_largest(selected(*selector, values), values, 5000);
}

TEST(Dgc, C5_TheLastPlaceIsSent) { EXPECT_TRUE(sends_the_last("dgc ratio=0.01")); }

TEST(Dgc, RefusesOptionsOutsideTheirRanges) {
  EXPECT_TRUE(refuses({"dgc ratio=0", "dgc sample=0", "dgc sample=2", "dgc reuse=0", "dgc reuse=1.5", "dgc k=5"}));
}

}  // namespace
}  // namespace hourglass::compress::testing
