// SPDX-License-Identifier: Apache-2.0
// What every row of optimizers() must do with its default options.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/random.h"
#include "learning/params/optimizer.h"

namespace hourglass::params {
namespace {

class OptimizerContract : public testing::TestWithParam<NamedRow> {
 protected:
  static std::unique_ptr<Optimizer> make(std::size_t size, double decay = 0.0) {
    return make_optimizer(GetParam().name, decay, size).value();
  }
};

TEST_P(OptimizerContract, ItsNameIsASpecAndItHasHelp) {
  EXPECT_TRUE(make_optimizer(GetParam().name, 0.0, 3).ok());
  EXPECT_FALSE(GetParam().help.empty());
}

TEST_P(OptimizerContract, GoesDownhill) {
  constexpr std::size_t kSize = 33;
  const auto optimizer = make(kSize);
  std::vector<float> parameters(kSize, 1.0F);
  for (int step = 0; step < 300; ++step) {
    std::vector<float> delta = parameters;  // the gradient of half the square
    optimizer->step(parameters, delta, 0.05);
    for (std::size_t i = 0; i < kSize; ++i) parameters[i] += delta[i];
  }
  for (const float each : parameters) EXPECT_LT(std::fabs(each), 0.05F);
}

TEST_P(OptimizerContract, LeavesTheParametersToTheCallerAndIsDeterministic) {
  const auto first = make(100, 0.01);
  const auto second = make(100, 0.01);
  Random random(5);
  for (int step = 0; step < 5; ++step) {
    std::vector<float> parameters(100);
    std::vector<float> gradient(100);
    for (float& each : parameters) each = static_cast<float>(random.normal());
    for (float& each : gradient) each = static_cast<float>(random.normal());
    const std::vector<float> before = parameters;
    std::vector<float> other = gradient;
    first->step(parameters, gradient, 0.1);
    second->step(parameters, other, 0.1);
    EXPECT_EQ(gradient, other);
    EXPECT_EQ(parameters, before);
  }
}

TEST_P(OptimizerContract, C15_AnotherOneGoesOnFromItsSavedStateBitForBit) {
  const auto first = make(50, 0.01);
  Random random(6);
  const auto draw = [&] {
    std::vector<float> out(50);
    for (float& each : out) each = static_cast<float>(random.normal());
    return out;
  };
  for (int step = 0; step < 7; ++step) {
    std::vector<float> gradient = draw();
    first->step(draw(), gradient, 0.1);
  }
  ArchiveWriter saved;
  first->save(saved);
  const Bytes bytes = saved.take();
  const auto second = make(50, 0.01);
  ArchiveReader reader(bytes);
  second->load(reader);
  EXPECT_TRUE(reader.complete());
  for (int step = 0; step < 3; ++step) {
    const std::vector<float> parameters = draw();
    std::vector<float> gradient = draw();
    std::vector<float> other = gradient;
    first->step(parameters, gradient, 0.1);
    second->step(parameters, other, 0.1);
    EXPECT_EQ(gradient, other);
  }
  if (bytes.size() <= 16) return;  // it remembers nothing
  ArchiveReader wrong(bytes);
  make(49)->load(wrong);
  EXPECT_FALSE(wrong.complete()) << "the state of another size";
}

TEST_P(OptimizerContract, ARateOfZeroMovesNothing) {
  const auto optimizer = make(3);
  const std::vector<float> parameters = {1, 2, 3};
  std::vector<float> gradient = {4, -5, 6};
  optimizer->step(parameters, gradient, 0.0);
  for (const float each : gradient) EXPECT_EQ(each, 0.0F);
}

TEST_P(OptimizerContract, DecayPullsTowardsZero) {
  const auto optimizer = make(2, 0.1);
  const std::vector<float> parameters = {2, -2};
  std::vector<float> gradient = {0, 0};
  optimizer->step(parameters, gradient, 0.1);
  EXPECT_LT(gradient[0], 0.0F);
  EXPECT_GT(gradient[1], 0.0F);
}

TEST_P(OptimizerContract, AdmitsNoParameters) {
  const auto optimizer = make(0);
  optimizer->step({}, {}, 0.1);
}

INSTANTIATE_TEST_SUITE_P(Rows, OptimizerContract, testing::ValuesIn(optimizers()),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(OptimizerRows, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const NamedRow& row : optimizers()) EXPECT_TRUE(names.insert(row.name).second) << row.name;
}

}  // namespace
}  // namespace hourglass::params
