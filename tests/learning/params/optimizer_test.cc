// SPDX-License-Identifier: Apache-2.0
#include "learning/params/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/cpu.h"
#include "base/random.h"
#include "learning/params/sgd_kernel.h"

namespace hourglass::params {
namespace {

struct Case {
  double momentum;
  bool nesterov;
  double decay;

  [[nodiscard]] std::string spec() const {
    return "sgd" + (momentum > 0 ? " momentum=" + std::to_string(momentum) : "") + (nesterov ? " nesterov=1" : "");
  }
};

class SgdCases : public testing::TestWithParam<Case> {};

/// The formula as PyTorch's documentation states it, in double and with its first-step case written out.
class Reference {
 public:
  Reference(Case numbers, std::vector<double> parameters) : numbers_(numbers), parameters_(std::move(parameters)) {}

  void step(const std::vector<float>& gradient, double rate) {
    const bool first = velocity_.empty();
    if (first) velocity_.resize(parameters_.size());
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      double direction = gradient[i] + numbers_.decay * parameters_[i];
      if (numbers_.momentum > 0.0) {
        velocity_[i] = first ? direction : numbers_.momentum * velocity_[i] + direction;
        direction = numbers_.nesterov ? direction + numbers_.momentum * velocity_[i] : velocity_[i];
      }
      parameters_[i] -= rate * direction;
    }
  }
  [[nodiscard]] const std::vector<double>& parameters() const { return parameters_; }

 private:
  Case numbers_;
  std::vector<double> parameters_;
  std::vector<double> velocity_;
};

TEST_P(SgdCases, FollowsTheReferenceFor50Steps) {
  constexpr std::size_t kSize = 1003;  // no multiple of any vector
  Random random(11);
  std::vector<float> parameters(kSize);
  for (float& each : parameters) each = static_cast<float>(random.normal());
  Reference reference(GetParam(), std::vector<double>(parameters.begin(), parameters.end()));
  auto optimizer = make_optimizer(GetParam().spec(), GetParam().decay, kSize).value();
  for (int step = 0; step < 50; ++step) {
    std::vector<float> gradient(kSize);
    for (float& each : gradient) each = static_cast<float>(random.normal());
    const double rate = 0.1 / (1 + step);
    reference.step(gradient, rate);
    optimizer->step(parameters, gradient, rate);
    for (std::size_t i = 0; i < kSize; ++i) parameters[i] += gradient[i];
    for (std::size_t i = 0; i < kSize; ++i) ASSERT_NEAR(parameters[i], reference.parameters()[i], 2e-5) << "step " << step << ", " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, SgdCases,
                         testing::Values(Case{0, false, 0}, Case{0, false, 0.01}, Case{0.9, false, 0}, Case{0.9, false, 0.01},
                                         Case{0.9, true, 0}, Case{0.9, true, 0.01}));

/// One parameter, w = 1, gradients 1, 2, -1, rate 0.1, momentum 0.5, decay 0.1, worked by hand; PyTorch's SGD gives the same.
TEST(Sgd, HandComputedSteps) {
  struct Row {
    const char* spec;
    double decay;
    double expected[3];
  };
  const Row rows[] = {
      {"sgd", 0, {0.9, 0.7, 0.8}},
      // d: 1.1, 2 + 0.089, -1 + 0.06801
      {"sgd", 0.1, {0.89, 0.6811, 0.774289}},
      // m: 1, 2.5, 0.25
      {"sgd momentum=0.5", 0, {0.9, 0.65, 0.625}},
      // d: 1 + 0.5, 2 + 1.25, -1 + 0.125
      {"sgd momentum=0.5 nesterov=1", 0, {0.85, 0.525, 0.6125}},
      // d: 1.1, 2.089, -0.93739; m: 1.1, 2.639, 0.38211
      {"sgd momentum=0.5", 0.1, {0.89, 0.6261, 0.587889}},
      // d: 1.1, 2.0835, -0.9505025; m: 1.1, 2.6335, 0.3662475; steps: 1.65, 3.40025, -0.76737875
      {"sgd momentum=0.5 nesterov=1", 0.1, {0.835, 0.494975, 0.571712875}},
  };
  const float gradients[] = {1, 2, -1};
  for (const Row& row : rows) {
    auto optimizer = make_optimizer(row.spec, row.decay, 1).value();
    std::vector<float> parameter = {1};
    for (int step = 0; step < 3; ++step) {
      std::vector<float> gradient = {gradients[step]};
      optimizer->step(parameter, gradient, 0.1);
      parameter[0] += gradient[0];
      EXPECT_NEAR(parameter[0], row.expected[step], 1e-6) << row.spec << " decay " << row.decay << " step " << step;
    }
  }
}

#if defined(__x86_64__)
TEST(SgdKernel, BothVariantsGiveTheSameBits) {
  EXPECT_EQ(sgd_kernel(), has_x86_64_v3() ? &kernels_v3::sgd : &kernels_base::sgd);
  if (!has_x86_64_v3()) return;  // the other variant cannot run here
  Random random(3);
  for (const std::size_t size : {0U, 1U, 7U, 8U, 1000U, 1003U}) {
    std::vector<float> parameters(size);
    std::vector<float> gradient(size);
    std::vector<float> velocity(size);
    for (auto* values : {&parameters, &gradient, &velocity}) {
      for (float& each : *values) each = static_cast<float>(random.normal());
    }
    for (const bool nesterov : {false, true}) {
      for (const bool decayed : {false, true}) {
        for (const bool moving : {false, true}) {
          auto one = std::pair(gradient, velocity);
          auto two = one;
          const SgdNumbers numbers = {0.1F, 0.3F, 0.9F};
          const float* weights = decayed ? parameters.data() : nullptr;
          kernels_base::sgd(weights, one.first.data(), moving ? one.second.data() : nullptr, size, numbers, nesterov);
          kernels_v3::sgd(weights, two.first.data(), moving ? two.second.data() : nullptr, size, numbers, nesterov);
          EXPECT_EQ(one, two) << size << nesterov << decayed << moving;
        }
      }
    }
  }
}
#endif

void expect_refused(std::string_view spec, double decay, std::initializer_list<std::string> texts) {
  const auto made = make_optimizer(spec, decay, 1);
  ASSERT_FALSE(made.ok()) << spec;
  EXPECT_EQ(made.error().code, Errc::bad_config) << spec;
  for (const std::string& text : texts) EXPECT_NE(made.error().text.find(text), std::string::npos) << made.error().text;
}

TEST(Optimizers, ErrorsListWhatIsAllowed) {
  expect_refused("lion", 0, {"unknown optimizer 'lion'", "known: sgd, adam, adamw, amsgrad, one_bit_adam"});
  expect_refused("adam beta1=1", 0, {"beta1=1", "from 0 to 0.99999"});
  expect_refused("amsgrad eps=0", 0, {"eps=0"});
  expect_refused("adam warmup=3", 0, {"warmup", "beta1, beta2, eps"});
  expect_refused("one_bit_adam ratio=0.1", 0, {"ratio=0.1", "from 0.5 to 1"});
  expect_refused("sdg", 0, {"did you mean 'sgd'?"});
  expect_refused("sgd momentun=0.9", 0, {"momentun", "momentum, nesterov"});
  expect_refused("sgd momentum=1", 0, {"momentum=1", "from 0 to 0.9999"});
  expect_refused("sgd momentum=nan", 0, {"from 0 to 0.9999"});
  expect_refused("sgd nesterov=1", 0, {"needs momentum"});
  expect_refused("sgd momentum=0.9 nesterov=2", 0, {"from 0 to 1"});
  expect_refused("sgd 0.9", 0, {"does not take '0.9'"});
  expect_refused("sgd | sgd", 0, {"one optimizer"});
  expect_refused("", 0, {"empty stage"});
  expect_refused("sgd", -1e-4, {"weight decay"});
  expect_refused("sgd", NAN, {"weight decay"});
}

TEST(OptimizerDeathTest, RefusesAnotherSize) {
  auto optimizer = make_optimizer("sgd", 0, 4).value();
  std::vector<float> parameters(4);
  std::vector<float> gradient(3);
  EXPECT_DEATH(optimizer->step(parameters, gradient, 0.1), "another size");
}

}  // namespace
}  // namespace hourglass::params
