// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/entropy_ratio.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/learning/compress/groups.h"

namespace hourglass::compress::testing {
namespace {

using Vector = std::vector<float>;

/// Ratios of the first look.
std::vector<double> first_look(const char* spec, double ratio, const std::vector<Vector>& layers) {
  std::vector<Shape> shapes;
  std::vector<std::span<const float>> sums;
  for (const Vector& layer : layers) {
    shapes.push_back(Shape::vector(layer.size()));
    sums.emplace_back(layer);
  }
  auto made = make_entropy_ratio(parse_spec(spec)->front(), ratio, shapes);
  HG_CHECK(made.ok(), "the test's spec is good");
  std::vector<double> ratios(layers.size(), 0.5);
  HG_CHECK((*made)->looks(), "the first call looks");
  (*made)->choose(sums, 0, ratios);
  return ratios;
}

TEST(Entropy, UniformIsOneAndASingleBlockIsZero) {
  Vector uniform(6400, -0.5F);
  for (std::size_t i = 0; i < uniform.size(); i += 2) uniform[i] = 0.5F;  // a signed mean would be 0
  EXPECT_NEAR(entropy_of_blocks(uniform, 100).normalised(), 1, 1e-12);
  Vector one(6400, 0.0F);
  one[70] = 3;
  EXPECT_EQ(entropy_of_blocks(one, 100).normalised(), 0);
  EXPECT_EQ(entropy_of_blocks(one, 1).normalised(), 0);
  EXPECT_FALSE(entropy_of_blocks(Vector(10, 0.0F), 4).known);
  EXPECT_FALSE(entropy_of_blocks({}, 4).known);
  EXPECT_EQ(entropy_of_blocks(Vector(3, 1.0F), 8).intervals, 3U);
}

TEST(Entropy, PermutedBlocksAndScaleChangeNothing) {
  const Vector values = normal_vector(6400, 1);
  const double entropy = entropy_of_blocks(values, 100).nats;
  Vector moved = values;
  std::rotate(moved.begin(), moved.begin() + 64 * 37, moved.end());
  EXPECT_NEAR(entropy_of_blocks(moved, 100).nats, entropy, 1e-12);
  for (auto& value : moved) value *= 1024;
  EXPECT_NEAR(entropy_of_blocks(moved, 100).nats, entropy, 1e-12);
  EXPECT_NEAR(entropy_of_values(moved, 100).nats, entropy_of_values(values, 100).nats, 1e-12);
}

TEST(Entropy, LiesBetweenZeroAndLnM) {
  for (const auto& [name, values] : hard_vectors()) {
    SCOPED_TRACE(name);
    for (const std::size_t intervals : {1UL, 2UL, 8UL, 256UL, 10000UL}) {
      for (const Entropy& entropy : {entropy_of_blocks(values, intervals), entropy_of_values(values, intervals)}) {
        ASSERT_GE(entropy.nats, 0);
        ASSERT_LE(entropy.nats, std::log(static_cast<double>(std::max<std::size_t>(1, entropy.intervals))) + 1e-9);
        ASSERT_TRUE(entropy.normalised() >= 0 && entropy.normalised() <= 1);
      }
    }
  }
}

TEST(Entropy, AShortLastBlockCountsByItsMean) { EXPECT_NEAR(entropy_of_blocks(Vector(101, 2.0F), 10).normalised(), 1, 1e-12); }

TEST(Entropy, ByValuesIsTheHistogram) {
  const Vector values = {0.1F, -0.2F, 0.6F, -1.0F};  // bins of 0.5: two and two
  EXPECT_NEAR(entropy_of_values(values, 2).nats, std::log(2.0), 1e-12);
  EXPECT_EQ(entropy_of_values(Vector(50, -3.0F), 8).nats, 0);
}

TEST(EntropyRatio, LiteralFormGoesFromLeastToMost) {
  Vector uniform(6400, 1.0F);
  Vector one(6400, 0.0F);
  one[5] = 1;
  Vector half(6400, 0.0F);
  std::fill(half.begin(), half.begin() + 3200, 1.0F);
  const auto ratios = first_look("entropy least=0.001 most=0.1 gamma=1 intervals=64", 0.01, {uniform, one, half, Vector(10, 0.0F)});
  EXPECT_NEAR(ratios[0], 0.1, 1e-12);
  EXPECT_DOUBLE_EQ(ratios[1], 0.001);
  EXPECT_NEAR(ratios[2], 0.001 + 0.099 * std::log(32.0) / std::log(64.0), 1e-12);
  EXPECT_DOUBLE_EQ(ratios[3], 0.001);
}

TEST(EntropyRatio, BudgetFormSendsTheSelectorsShareOfAll) {
  const std::vector<Vector> layers = {normal_vector(50000, 1), Vector(3000, 1.0F), normal_vector(777, 3)};
  const auto ratios = first_look("entropy form=budget", 0.02, layers);
  double sent = 0;
  double size = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    sent += std::ceil(ratios[i] * static_cast<double>(layers[i].size()));
    size += static_cast<double>(layers[i].size());
  }
  EXPECT_NEAR(sent, 0.02 * size, static_cast<double>(layers.size()));
  EXPECT_GT(ratios[1], ratios[0]);
  const auto same = first_look("entropy form=budget", 0.02, {Vector(100, 0.0F), Vector(300, 0.0F)});
  EXPECT_DOUBLE_EQ(same[0], 0.02);
  EXPECT_DOUBLE_EQ(same[1], 0.02);
}

TEST(EntropyRatio, LooksEveryTenStepsAndConservesTheGradient) {
  const std::size_t size = 12000;
  const std::vector<Segment> layers = {{0, 10000, false, 100}, {10000, 1500, false}, {11500, 500, true}};
  for (const char* form : {"literal", "budget by=values"}) {
    ErrorFeedback group = group_of(std::string("entropy form=") + form + " | topk ratio=0.01", layers);
    std::vector<float> sum(size, 0.0F);
    std::vector<float> wanted(size, 0.0F);
    std::uint64_t count = 0;
    for (std::uint64_t step = 0; step < 25; ++step) {
      auto delta = whole_vector(size, step);
      for (std::size_t i = 11500; i < size; ++i) delta[i] = 0;
      if (step > 10) std::fill(delta.begin(), delta.begin() + 9000, 0.0F);
      for (std::size_t i = 0; i < size; ++i) wanted[i] += delta[i];
      const auto blocks = compressed(group, delta, step);
      if (step % 10 != 0) {
        EXPECT_EQ(blocks.at(0).count, count);
      }
      count = blocks.at(0).count;
      add(blocks, sum);
    }
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(sum[i] + group.residual()[i], wanted[i]);
  }
}

TEST(EntropyRatio, OptionsAreChecked) {
  EXPECT_NE(refusal_of("entropy form=other | topk").find("literal, budget"), std::string::npos);
  EXPECT_NE(refusal_of("entropy by=bits | topk").find("blocks, values"), std::string::npos);
  EXPECT_NE(refusal_of("entropy least=0.5 most=0.1 | topk").find("most"), std::string::npos);
  EXPECT_NE(refusal_of("entropy least=0 | topk").find("least"), std::string::npos);
  EXPECT_NE(refusal_of("entropy gamma=-1 | topk").find("gamma"), std::string::npos);
  EXPECT_NE(refusal_of("entropy every=0 | topk").find("every"), std::string::npos);
  EXPECT_NE(refusal_of("entropy intervals=70000 | topk").find("intervals"), std::string::npos);
  EXPECT_NE(refusal_of("entropy steps=3 | topk").find("steps"), std::string::npos);
  EXPECT_EQ(refusal_of("entropy least=0.5 | topk"), "accepted");
}

}  // namespace
}  // namespace hourglass::compress::testing
