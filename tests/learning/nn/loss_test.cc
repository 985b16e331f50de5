// SPDX-License-Identifier: Apache-2.0
#include "learning/nn/loss.h"

#include <gtest/gtest.h>

#include <cmath>

#include "reference.h"

namespace hourglass::nn {
namespace {

using Labels = std::vector<std::uint16_t>;

TEST(SoftmaxCrossEntropy, equal_logits_cost_the_logarithm_of_the_classes) {
  const std::vector<float> logits(4 * 10, 3.5F);
  const Labels labels = {0, 3, 9, 0};
  std::vector<float> gradient(logits.size());
  const LossResult result = softmax_cross_entropy(logits, labels, 10, gradient);
  EXPECT_NEAR(result.loss_sum, 4 * std::log(10.0), 1e-12);
  EXPECT_EQ(result.hits, 2U);  // the first of equal logits counts
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    EXPECT_NEAR(gradient[i], (0.1 - (labels[i / 10] == i % 10 ? 1 : 0)) / 4, 1e-8);
  }
}

TEST(SoftmaxCrossEntropy, two_classes_are_the_logistic_function) {
  const std::vector<float> logits = {0.0F, 1.25F};
  std::vector<float> gradient(2);
  const LossResult result = softmax_cross_entropy(logits, Labels{0}, 2, gradient);
  EXPECT_NEAR(result.loss_sum, std::log1p(std::exp(1.25)), 1e-12);
  const double wrong = 1 / (1 + std::exp(-1.25));
  EXPECT_NEAR(gradient[0], -wrong, 1e-7);
  EXPECT_NEAR(gradient[1], wrong, 1e-7);
  EXPECT_EQ(result.hits, 0U);
}

TEST(SoftmaxCrossEntropy, gradient_is_the_numeric_one) {
  const std::size_t rows = 5, classes = 7;
  auto logits = random_floats(rows * classes, 1);
  for (float& each : logits) each *= 4;
  const Labels labels = {6, 0, 3, 3, 1};
  std::vector<float> gradient(logits.size());
  const double whole = softmax_cross_entropy(logits, labels, classes, gradient).loss_sum;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    auto up = logits, down = logits;
    up[i] += 1e-2F;
    down[i] -= 1e-2F;
    const double step = static_cast<double>(up[i]) - down[i];
    const double slope =
        (softmax_cross_entropy(up, labels, classes, {}).loss_sum - softmax_cross_entropy(down, labels, classes, {}).loss_sum) / step;
    EXPECT_NEAR(gradient[i], slope / rows, 1e-5);
  }
  EXPECT_EQ(softmax_cross_entropy(logits, labels, classes, {}).loss_sum, whole);
}

TEST(SoftmaxCrossEntropy, huge_logits_stay_finite) {
  const std::vector<float> logits = {1e30F, -1e30F, 0.0F, 3e38F, 3e38F, -3e38F};
  std::vector<float> gradient(logits.size());
  const LossResult result = softmax_cross_entropy(logits, Labels{0, 2}, 3, gradient);
  EXPECT_TRUE(std::isfinite(result.loss_sum));
  EXPECT_EQ(result.hits, 1U);
  for (const float each : gradient) EXPECT_TRUE(std::isfinite(each));
  EXPECT_NEAR(gradient[3], 0.25, 1e-7);
  EXPECT_NEAR(gradient[5], -0.5, 1e-7);
}

TEST(SoftmaxCrossEntropy, no_rows_cost_nothing) {
  const LossResult result = softmax_cross_entropy({}, {}, 10, {});
  EXPECT_EQ(result.loss_sum, 0);
  EXPECT_EQ(result.hits, 0U);
}

TEST(SoftmaxCrossEntropyDeathTest, refuses_labels_out_of_range) {
  const std::vector<float> logits(3);
  EXPECT_DEATH(softmax_cross_entropy(logits, Labels{3}, 3, {}), "label");
}

}  // namespace
}  // namespace hourglass::nn
