// SPDX-License-Identifier: Apache-2.0
#include "learning/params/stale_policy.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace hourglass::params {
namespace {

std::unique_ptr<StalePolicy> made(std::string_view spec) {
  auto policy = make_stale_policy(spec);
  EXPECT_TRUE(policy.ok()) << (policy.ok() ? "" : policy.error().text);
  return std::move(policy).value();
}

TEST(StalePolicy, WeighsByTheAgeInRounds) {
  EXPECT_EQ(made("equal")->weight(100), 1);
  EXPECT_EQ(made("polynomial")->weight(0), 1);
  EXPECT_DOUBLE_EQ(made("polynomial")->weight(3), 0.5);
  EXPECT_DOUBLE_EQ(made("polynomial power=1")->weight(3), 0.25);
  EXPECT_EQ(made("inverse")->weight(0), 1);
  EXPECT_EQ(made("inverse")->weight(1), 1);
  EXPECT_DOUBLE_EQ(made("inverse")->weight(4), 0.25);
}

TEST(StalePolicy, EveryWeightFallsWithAgeAndStaysPositive) {
  for (const NamedRow& row : stale_policies()) {
    const auto policy = made(row.name);
    double before = 1;
    for (const std::uint64_t age : {0U, 1U, 2U, 10U, 1000U}) {
      const double weight = policy->weight(age);
      EXPECT_GT(weight, 0) << row.name;
      EXPECT_LE(weight, before) << row.name;
      before = weight;
    }
  }
}

TEST(StalePolicy, CompensationOfAFreshGradientChangesNothing) {
  const std::vector<float> values = {1, -2, 3};
  for (const char* spec : {"dc_asgd", "dc_asgd lambda=2 decay=0.95"}) {
    const auto policy = made(spec);
    ASSERT_TRUE(policy->compensates());
    std::vector<float> push = {0.5F, -0.25F, 0};
    policy->compensate(push, values, values);
    EXPECT_EQ(push, (std::vector<float>{0.5F, -0.25F, 0})) << spec;
  }
}

TEST(StalePolicy, CompensatesByTheFormula) {
  std::vector<float> push = {-0.5F, 0.5F, 0};
  made("dc_asgd lambda=0.1")->compensate(push, std::vector<float>{3, 3, 3}, std::vector<float>{1, 1, 1});
  EXPECT_FLOAT_EQ(push[0], -(0.5F + 0.1F * 0.25F * 2));
  EXPECT_FLOAT_EQ(push[1], -(-0.5F + 0.1F * 0.25F * 2));
  EXPECT_EQ(push[2], 0);  // left out by a compressor
  const auto adaptive = made("dc_asgd lambda=2 decay=0.5");
  std::vector<float> first = {-1};
  adaptive->compensate(first, std::vector<float>{1}, std::vector<float>{0});
  EXPECT_NEAR(first[0], -(1 + 2 / std::sqrt(0.5)), 1e-5);
}

TEST(StalePolicy, GradientsThatOverflowStayAsTheyCame) {
  std::vector<float> push = {3e38F};
  made("dc_asgd lambda=1000")->compensate(push, std::vector<float>{3e38F}, std::vector<float>{-3e38F});
  EXPECT_EQ(push[0], 3e38F);
}

/// A quadratic whose Hessian is lambda g g, which is what the method takes it for, near the optimum of logistic losses: gradients two steps
/// late, compensated, err less than as they are.
TEST(StalePolicy, CompensationErrsLessThanTheStaleGradient) {
  Random random(3);
  double plain = 0;
  double compensated = 0;
  for (int trial = 0; trial < 200; ++trial) {
    // f(w) = -log(sigmoid(w x)) for one example: f' = -x (1 - p), f'' = x^2 p (1 - p); at p = 1/2, f'' = f'^2.
    const float x = static_cast<float>(random.normal());
    const float then = 0.2F * static_cast<float>(random.normal());
    const float now = then + 0.3F * static_cast<float>(random.normal());
    const auto gradient = [x](float w) { return -x / (1 + std::exp(w * x)); };
    std::vector<float> push = {-gradient(then)};
    plain += std::abs(-gradient(now) - push[0]);
    made("dc_asgd lambda=1")->compensate(push, std::vector<float>{now}, std::vector<float>{then});
    compensated += std::abs(-gradient(now) - push[0]);
  }
  EXPECT_LT(compensated, 0.5 * plain);
}

TEST(StalePolicy, RefusesWhatItCannotCompensate) {
  Job job;
  job.stale_policy = "dc_asgd";
  job.server = "sgd";
  job.optimizer = "sgd";
  EXPECT_TRUE(check_stale_policy(job).ok());
  const auto text_after = [&job](auto change) {
    Job changed = job;
    change(changed);
    const Status status = check_stale_policy(changed);
    return status.ok() ? std::string("accepted") : status.error().text;
  };
  EXPECT_NE(text_after([](Job& j) { j.server = "add"; }).find("set train.server"), std::string::npos);
  EXPECT_NE(text_after([](Job& j) { j.server = "one_bit_adam"; }).find("another train.server"), std::string::npos);
  EXPECT_NE(text_after([](Job& j) { j.local_steps = 2; }).find("set train.local_steps = 1"), std::string::npos);
  EXPECT_NE(text_after([](Job& j) { j.tree_arity = 2; }).find("cluster.tree_arity = 0"), std::string::npos);
  EXPECT_NE(text_after([](Job& j) { j.stale_policy = "polynomal"; }).find("did you mean 'polynomial'"), std::string::npos);
  EXPECT_NE(text_after([](Job& j) { j.stale_policy = "inverse power=2"; }).find("power"), std::string::npos);
}

}  // namespace
}  // namespace hourglass::params
