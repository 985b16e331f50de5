// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/risk.h"

#include <gtest/gtest.h>

#include "tests/learning/compress/groups.h"

namespace hourglass::compress::testing {
namespace {

TEST(C24_Risk, WarnsOfWhatIsKnownToCollapse) {
  EXPECT_NE(risk_of("none | topk ratio=0.01").find("without a memory"), std::string::npos);
  EXPECT_NE(risk_of("none | topk ratio=0.001 | two_level | rice"), "");
  EXPECT_NE(risk_of("ef21 of=update | topk").find("running sum"), std::string::npos);
  EXPECT_NE(risk_of("dgc_momentum | dense | bf16").find("no momentum left"), std::string::npos);
  EXPECT_NE(risk_of("dgc_momentum | topk ratio=1"), "");
}

TEST(C24_Risk, IsSilentWhereNothingIsKnown) {
  for (const char* spec : {"dense", "none | dense", "none | dense | bf16", "none | topk ratio=0.9", "topk ratio=0.01",
                           "topk ratio=0.001 | two_level | rice", "warmup | topk ratio=0.001", "dgc_momentum | topk ratio=0.001",
                           "dgc_momentum momentum=0.9 nesterov=1 | topk ratio=0.01 | two_level", "dgc_momentum masking=0 | dense | bf16",
                           "low_pass | topk ratio=0.01", "ef21 | topk ratio=0.01", "budget | topk ratio=0.01",
                           "feedback decay=0.95 | topk ratio=0.01 | two_level | rice", "no such thing"}) {
    EXPECT_EQ(risk_of(spec), "") << spec;
  }
}

/// A compressor is a contraction, or start-up says what will happen: held over a run much longer than the one that risk_of() tries.
TEST(C24_Risk, NoExampleOfTheRegistryGrowsUnannounced) {
  const std::size_t size = 4096;
  for (const CompressRow& row : registry()) {
    const std::string spec(row.example);
    SCOPED_TRACE(spec);
    if (!risk_of(spec).empty()) continue;
    ErrorFeedback group = group_of(spec, {{0, size, false, 64}});
    double norms = 0;
    for (std::uint64_t step = 0; step < 300; ++step) {
      const auto delta = normal_vector(size, step);
      norms += 8.0 * 64;
      ASSERT_TRUE(group.compress(delta, step).ok()) << step;
    }
    EXPECT_LT(group.residual_norm(), norms);
  }
}

TEST(C24_Risk, ADownlinkHasToCatchUp) {
  EXPECT_EQ(downlink_risk_of("dense | bf16"), "");
  EXPECT_EQ(downlink_risk_of("topk ratio=0.01 | two_level | rice"), "");
  EXPECT_EQ(downlink_risk_of("ef21 | topk"), "");
  for (const char* spec : {"none | topk", "none | dense | bf16", "dgc_momentum | topk", "low_pass | topk", "feedback decay=0.9 | topk",
                           "ef21 of=update | topk"}) {
    EXPECT_NE(downlink_risk_of(spec), "") << spec;
  }
}

TEST(C12_Risk, MomentumIsToldToTheOptimizersOwner) {
  EXPECT_TRUE(has_momentum("dgc_momentum | topk"));
  EXPECT_TRUE(has_momentum("dgc_momentum momentum=0.5 | topk"));
  EXPECT_FALSE(has_momentum("dgc_momentum momentum=0 | topk"));
  EXPECT_FALSE(has_momentum("topk"));
  EXPECT_FALSE(has_momentum("nothing"));
}

TEST(Risk, WhatAsynchronyAsksOfASpec) {
  EXPECT_TRUE(takes_turns("clt_k ratio=0.1 | two_level"));
  EXPECT_FALSE(takes_turns("topk"));
  EXPECT_FALSE(takes_turns("nothing"));
  EXPECT_EQ(least_ratio("dgc_momentum | topk ratio=0.001 | f32"), 0.001);
  EXPECT_EQ(least_ratio("dense"), 1);
  EXPECT_EQ(least_ratio("nothing"), 1);
}

}  // namespace
}  // namespace hourglass::compress::testing
