// SPDX-License-Identifier: Apache-2.0
// See memory_test.cc for the recursion itself.
#include "learning/compress/dgc_momentum.h"

#include <gtest/gtest.h>

#include "tests/learning/compress/groups.h"

namespace hourglass::compress::testing {
namespace {

using Vector = std::vector<float>;

TEST(DgcMomentum, WithoutMomentumItIsErrorFeedbackBitForBit) {
  for (const char* codecs : {"topk ratio=0.01", "topk ratio=0.01 | two_level | rice", "dense | bf16"}) {
    ErrorFeedback dgc = group_of(std::string("dgc_momentum momentum=0 | ") + codecs, 5000);
    ErrorFeedback feedback = group_of(codecs, 5000);
    for (std::uint64_t step = 0; step < 10; ++step) {
      const auto delta = normal_vector(5000, step);
      EXPECT_TRUE(equal(compressed(dgc, delta, step).at(0), compressed(feedback, delta, step).at(0)));
      ASSERT_EQ(residual_of(dgc), residual_of(feedback));
    }
    EXPECT_TRUE(dgc.conserves());
  }
}

/// The parameters of momentum SGD as PyTorch writes it: v = m v + g; w += v, or with Nesterov w += g + m v.
Vector plain_momentum(std::size_t size, bool nesterov) {
  Vector v(size, 0.0F);
  Vector w(size, 0.0F);
  for (std::uint64_t step = 0; step < 50; ++step) {
    const auto g = normal_vector(size, step);
    for (std::size_t i = 0; i < size; ++i) {
      v[i] = 0.9F * v[i] + g[i];
      w[i] += nesterov ? g[i] + 0.9F * v[i] : v[i];
    }
  }
  return w;
}

TEST(C12_DgcMomentum, RatioOneWithoutMaskingIsMomentumSgd) {
  const std::size_t size = 2000;
  for (const bool nesterov : {false, true}) {
    for (const char* codecs : {" | topk ratio=1", " | dense"}) {
      ErrorFeedback group = group_of("dgc_momentum momentum=0.9 masking=0 nesterov=" + std::to_string(nesterov) + codecs, size);
      Vector w(size, 0.0F);
      for (std::uint64_t step = 0; step < 50; ++step) add(compressed(group, normal_vector(size, step), step), w);
      const Vector expected = plain_momentum(size, nesterov);
      if (!nesterov) {
        EXPECT_EQ(w, expected);
      }
      for (std::size_t i = 0; i < size; ++i) ASSERT_NEAR(w[i], expected[i], 1e-4) << i;  // sums of 50 updates of size 10
      EXPECT_EQ(group.residual_norm(), 0);
    }
  }
}

TEST(C12_DgcMomentum, RatioOneWithMaskingHasNoMomentumLeft) {
  ErrorFeedback group = group_of("dgc_momentum | topk ratio=1", 500);
  for (std::uint64_t step = 0; step < 10; ++step) {
    const auto delta = normal_vector(500, step);
    EXPECT_EQ(sum_of(compressed(group, delta, step), 500), delta);
  }
}

TEST(DgcMomentum, MaskingClearsMomentumOfWhatWasSentAlone) {
  ErrorFeedback group = group_of("dgc_momentum momentum=0.5 | topk ratio=0.25", 4);
  EXPECT_EQ(sum_of(compressed(group, {8, 4, 2, 1}), 4), (Vector{8, 0, 0, 0}));
  EXPECT_EQ(residual_of(group), (Vector{0, 4, 2, 1}));
  EXPECT_EQ(sum_of(compressed(group, {0, 0, 0, 0}), 4), (Vector{0, 6, 0, 0}));  // U = 0 2 1 0.5
  EXPECT_EQ(residual_of(group), (Vector{0, 0, 3, 1.5}));
  EXPECT_EQ(sum_of(compressed(group, {0, 0, 0, 0}), 4), (Vector{0, 0, 3.5, 0}));  // U = 0 0 0.5 0.25
  EXPECT_EQ(residual_of(group), (Vector{0, 0, 0, 1.75}));
}

TEST(DgcMomentum, SentPlusHeldIsTheSumOfMomenta) {
  const std::size_t size = 1000;
  ErrorFeedback group = group_of("dgc_momentum momentum=0.5 | topk ratio=0.01", size);
  Vector u(size, 0.0F);
  Vector sum_u(size, 0.0F);
  Vector sent(size, 0.0F);
  for (std::uint64_t step = 0; step < 8; ++step) {
    auto delta = whole_vector(size, step);
    for (auto& value : delta) value *= 256;  // halves stay whole
    const auto now = sum_of(compressed(group, delta, step), size);
    for (std::size_t i = 0; i < size; ++i) {
      u[i] = 0.5F * u[i] + delta[i];
      sum_u[i] += u[i];
      sent[i] += now[i];
      if (now[i] != 0) u[i] = 0;
    }
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(sent[i] + group.residual()[i], sum_u[i]) << i;
  }
}

TEST(DgcMomentum, SmallRangesHaveOrdinaryMomentum) {
  ErrorFeedback group = group_of("dgc_momentum momentum=0.5 | topk ratio=0.25", {{0, 4, false}, {4, 2, true}});
  Vector delta = {8, 4, 2, 1, 64, -32};
  compressed(group, delta);
  const auto second = sum_of(compressed(group, Vector(6, 0.0F)), 6);
  EXPECT_EQ(second[0], 0);
  EXPECT_EQ(second[4], 32);
  EXPECT_EQ(second[5], -16);
}

TEST(DgcMomentum, ClipsTheNormOfTheWholeGroup) {
  const std::vector<Segment> halves = {{0, 50, false}, {50, 50, false}};
  ErrorFeedback group = group_of("dgc_momentum momentum=0 clip=2 | dense", halves);
  for (const double scale : {1e-3, 1.0, 1e30}) {
    auto delta = normal_vector(100, 3);
    double norm = 0;
    for (auto& value : delta) norm += scale * scale * value * value;
    for (auto& value : delta) value *= static_cast<float>(scale);
    const auto sent = sum_of(compressed(group, delta), 100);
    double clipped = 0;
    for (const float value : sent) clipped += static_cast<double>(value) * value;
    EXPECT_NEAR(std::sqrt(clipped), std::min(2.0, std::sqrt(norm)), 1e-4 * std::min(2.0, std::sqrt(norm)));
    EXPECT_EQ(std::signbit(sent[7]), std::signbit(delta[7]));
  }
  EXPECT_FALSE(group.conserves());
}

TEST(DgcMomentum, FlushEndsTheMomentum) {
  ErrorFeedback group = group_of("dgc_momentum momentum=0.5 | topk ratio=0.25", 4);
  compressed(group, {8, 4, 2, 1});
  EXPECT_EQ(sum_of(group.flush(), 4), (Vector{0, 4, 2, 1}));
  EXPECT_TRUE(compressed(group, Vector(4, 0.0F)).empty());
}

/// C13: 0.1 % from the first step on, with and without warm-up, stays finite on a problem whose gradient follows the parameters.
TEST(C13_DgcMomentum, StaysFiniteWithAndWithoutWarmup) {
  const std::size_t size = 5000;
  const auto target = normal_vector(size, 1);
  double distance[2] = {};
  for (const bool warm : {false, true}) {
    const std::string spec =
        std::string("dgc_momentum momentum=0.9 | ") + (warm ? "warmup from=0.25 steps=200 | " : "") + "topk ratio=0.001";
    ErrorFeedback group = group_of(spec, size);
    Vector w(size, 0.0F);
    for (std::uint64_t step = 0; step < 400; ++step) {
      Vector delta(size);
      for (std::size_t i = 0; i < size; ++i) delta[i] = -0.1F * (w[i] - target[i]);
      add(compressed(group, delta, step), w);
    }
    for (std::size_t i = 0; i < size; ++i) distance[static_cast<int>(warm)] += std::pow(static_cast<double>(w[i]) - target[i], 2);
    EXPECT_TRUE(std::isfinite(distance[static_cast<int>(warm)]));
  }
  EXPECT_LT(distance[1], distance[0]);
}

TEST(DgcMomentum, OptionsAreChecked) {
  EXPECT_NE(refusal_of("dgc_momentum momentum=1 | topk").find("momentum"), std::string::npos);
  EXPECT_NE(refusal_of("dgc_momentum nesterov=2 | topk").find("nesterov"), std::string::npos);
  EXPECT_NE(refusal_of("dgc_momentum masking=0.5 | topk").find("masking"), std::string::npos);
  EXPECT_NE(refusal_of("dgc_momentum clip=-1 | topk").find("clip"), std::string::npos);
  EXPECT_NE(refusal_of("dgc_momentum decay=1 | topk").find("decay"), std::string::npos);
}

}  // namespace
}  // namespace hourglass::compress::testing
