// SPDX-License-Identifier: Apache-2.0
#include "learning/params/adam.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/cpu.h"
#include "base/random.h"

namespace hourglass::params {
namespace {

constexpr double kRate = 0.01;

/// The formulas in double, powers and all.
class Reference {
 public:
  Reference(std::string kind, double decay, std::vector<double> parameters)
      : kind_(std::move(kind)), decay_(decay), w_(std::move(parameters)), m_(w_.size()), v_(w_.size()), u_(w_.size()) {}

  void step(const std::vector<float>& gradient) {
    ++t_;
    for (std::size_t i = 0; i < w_.size(); ++i) {
      const double g = gradient[i] + (kind_ == "adamw" ? 0 : decay_ * w_[i]);
      m_[i] = 0.9 * m_[i] + 0.1 * g;
      v_[i] = 0.999 * v_[i] + 0.001 * g * g;
      u_[i] = std::max(u_[i], v_[i]);
      if (kind_ == "amsgrad") {
        w_[i] -= kRate * m_[i] / std::sqrt(u_[i] + 1e-8);
      } else if (kind_ == "one_bit_adam") {
        w_[i] -= kRate * m_[i] / (std::sqrt(v_[i]) + 1e-8);
      } else {
        const double shrink = kind_ == "adamw" ? kRate * decay_ * w_[i] : 0;
        w_[i] -= shrink + kRate * m_[i] / (1 - std::pow(0.9, t_)) / (std::sqrt(v_[i] / (1 - std::pow(0.999, t_))) + 1e-8);
      }
    }
  }
  [[nodiscard]] const std::vector<double>& parameters() const { return w_; }

 private:
  std::string kind_;
  double decay_;
  std::vector<double> w_, m_, v_, u_;
  int t_ = 0;
};

TEST(Adam, FollowsTheReferenceForFiftySteps) {
  constexpr std::size_t kSize = 1003;
  for (const std::string kind : {"adam", "adamw", "amsgrad", "one_bit_adam"}) {
    for (const double decay : {0.0, 0.1}) {
      Random random(11);
      std::vector<float> parameters(kSize);
      for (float& each : parameters) each = static_cast<float>(random.normal());
      Reference reference(kind, decay, std::vector<double>(parameters.begin(), parameters.end()));
      const auto optimizer = make_optimizer(kind, decay, kSize).value();
      for (int step = 0; step < 50; ++step) {
        std::vector<float> gradient(kSize);
        for (float& each : gradient) each = static_cast<float>(random.normal() * (step % 7 == 0 ? 10 : 0.1));
        reference.step(gradient);
        optimizer->step(parameters, gradient, kRate);
        for (std::size_t i = 0; i < kSize; ++i) parameters[i] += gradient[i];
      }
      for (std::size_t i = 0; i < kSize; ++i) ASSERT_NEAR(parameters[i], reference.parameters()[i], 2e-5) << kind << " " << decay;
    }
  }
}

/// By hand: the first step of Adam is the rate, whatever the gradient's size.
TEST(Adam, FirstStepsByHand) {
  const auto first = [](std::string_view spec, float gradient) {
    const std::vector<float> parameters = {0};
    std::vector<float> delta = {gradient};
    make_optimizer(spec, 0, 1).value()->step(parameters, delta, 0.5);
    return delta[0];
  };
  EXPECT_NEAR(first("adam", 123.0F), -0.5, 1e-6);
  EXPECT_NEAR(first("adam", -0.001F), 0.5, 1e-4);
  EXPECT_NEAR(first("amsgrad beta1=0 beta2=0.75 eps=1e-12", 8.0F), -1.0, 1e-6);  // 0.5 * 8 / sqrt(0.25 * 64)
  EXPECT_NEAR(first("amsgrad beta1=0.5 beta2=0 eps=1", 3.0F), -0.5 * 1.5 / std::sqrt(10.0), 1e-6);
  EXPECT_NEAR(first("one_bit_adam beta1=0.5 beta2=0.75", 4.0F), -0.5, 1e-6);  // 0.5 * 2 / 2
}

TEST(OneBitAdam, FreezesAfterTheWarmup) {
  OneBitAdam adam({.beta1 = 0.5, .beta2 = 0.5, .warmup = 2}, 1);
  const std::vector<float> parameters = {0};
  const auto delta_of = [&](float gradient) {
    std::vector<float> delta = {gradient};
    adam.step(parameters, delta, 1);
    return delta[0];
  };
  delta_of(4);
  EXPECT_FALSE(adam.frozen());
  delta_of(4);
  EXPECT_TRUE(adam.frozen());
  EXPECT_EQ(adam.variance()[0], 12);                                // 8, 4 + 8
  EXPECT_NEAR(delta_of(100), -(1.5 + 50) / std::sqrt(12.0), 1e-5);  // m: 2, 3, 51.5
  EXPECT_EQ(adam.variance()[0], 12);
  std::vector<float> momentum = {6};
  adam.step_with_momentum(momentum, 1);
  EXPECT_NEAR(momentum[0], -6 / std::sqrt(12.0), 1e-6);
}

TEST(OneBitAdam, FreezesByTheRatioOnceTheVarianceStandsAndTheRateHasStoppedRising) {
  const auto freezes_at = [](double warmup_share) {
    OneBitAdam adam({.beta2 = 0.9}, 3);  // D = 10
    const std::vector<float> parameters(3);
    for (int step = 1; step < 200; ++step) {
      std::vector<float> gradient = {1, -2, 3};
      adam.step(parameters, gradient, std::min(1.0, step / (200 * warmup_share + 1)));
      if (adam.frozen()) return step;
    }
    return 0;
  };
  // |v_t| = 14 (1 - 0.9^t): |v_t-10| / |v_t| >= 0.96 from t = 37 on.
  EXPECT_EQ(freezes_at(0), 37);
  EXPECT_GE(freezes_at(0.4), 80);
}

TEST(OneBitAdam, AnEntryWithoutVarianceStays) {
  OneBitAdam adam({.warmup = 1}, 2);
  const std::vector<float> parameters(2);
  std::vector<float> gradient = {1, 0};
  adam.step(parameters, gradient, 1);
  gradient = {1, 1};
  adam.step(parameters, gradient, 1);
  EXPECT_LT(gradient[0], 0);
  EXPECT_EQ(gradient[1], 0);
}

#if defined(__x86_64__)
TEST(AdamKernels, BothLevelsGiveTheSameBits) {
  // A processor with one level compares it with itself: the finite results below still count.
  const auto adam = has_x86_64_v3() ? kernels_v3::adam : kernels_base::adam;
  const auto scale_by_root = has_x86_64_v3() ? kernels_v3::scale_by_root : kernels_base::scale_by_root;
  constexpr std::size_t kSize = 1001;
  Random random(2);
  std::vector<float> w(kSize), g(kSize), m(kSize), v(kSize), u(kSize);
  for (std::size_t i = 0; i < kSize; ++i) {
    w[i] = static_cast<float>(random.normal());
    g[i] = static_cast<float>(random.normal() * (i % 50 == 0 ? 1e30 : 1));
    m[i] = static_cast<float>(random.normal());
    v[i] = i % 9 == 0 ? 0.0F : static_cast<float>(random.uniform());
    u[i] = static_cast<float>(random.uniform());
  }
  g[7] = NAN;
  g[8] = INFINITY;
  for (const bool largest : {false, true}) {
    auto g1 = g, g2 = g, m1 = m, m2 = m, v1 = v, v2 = v, u1 = u, u2 = u;
    const AdamNumbers numbers{0.01F, 0.9F, 0.999F, 0.1F, 0.001F, 1e-8F, 1e-9F, 1.5F, 0.01F, 0.02F};
    kernels_base::adam(w.data(), g1.data(), m1.data(), v1.data(), largest ? u1.data() : nullptr, kSize, numbers);
    adam(w.data(), g2.data(), m2.data(), v2.data(), largest ? u2.data() : nullptr, kSize, numbers);
    EXPECT_EQ(g1, g2);
    EXPECT_EQ(m1, m2);
    EXPECT_EQ(v1, v2);
    EXPECT_EQ(u1, u2);
    kernels_base::scale_by_root(g1.data(), v.data(), kSize, 0.1F, 1e-8F);
    scale_by_root(g2.data(), v.data(), kSize, 0.1F, 1e-8F);
    EXPECT_EQ(g1, g2);
    for (const float each : g1) ASSERT_TRUE(std::isfinite(each));
  }
}
#endif

}  // namespace
}  // namespace hourglass::params
