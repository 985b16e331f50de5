// SPDX-License-Identifier: Apache-2.0
// That the receiver's sum is the sender's estimate, bit for bit and at every step, is MemoryContract.FollowsItsFormulaBitForBit.
#include "learning/compress/ef21.h"

#include <gtest/gtest.h>

#include "tests/learning/compress/groups.h"

namespace hourglass::compress::testing {
namespace {

using Vector = std::vector<float>;

TEST(Ef21, OfTheSumAnAddingReceiverEndsAtTheSum) {
  const std::size_t size = 1000;
  ErrorFeedback group = group_of("ef21 | topk ratio=0.05", size);
  ErrorFeedback feedback = group_of("topk ratio=0.05", size);
  Vector server(size, 0.0F);
  for (std::uint64_t step = 0; step < 40; ++step) {
    const auto delta = whole_vector(size, step);
    const auto blocks = compressed(group, delta, step);
    EXPECT_TRUE(equal(blocks.at(0), compressed(feedback, delta, step).at(0)));  // in exact numbers it is error feedback
    add(blocks, server);
  }
  for (std::uint64_t step = 40; step < 70; ++step) add(compressed(group, Vector(size, 0.0F), step), server);
  EXPECT_EQ(group.residual_norm(), 0);
  Vector sum(size, 0.0F);
  for (std::uint64_t step = 0; step < 40; ++step) {
    const auto delta = whole_vector(size, step);
    for (std::size_t i = 0; i < size; ++i) sum[i] += delta[i];
  }
  EXPECT_EQ(server, sum);
}

/// The paper's algorithm with the receiver that the header describes: S adds blocks, the parameters add S. Two workers, f_w = |x - t_w|^2
/// / 2.
TEST(Ef21, OfTheUpdateAnIntegratingReceiverFindsTheMinimum) {
  const std::size_t size = 200;
  const Vector target[2] = {normal_vector(size, 1), normal_vector(size, 2)};
  ErrorFeedback worker[2] = {group_of("ef21 of=update | topk ratio=0.1", size), group_of("ef21 of=update | topk ratio=0.1", size)};
  Vector x(size, 0.0F);
  Vector sum(size, 0.0F);
  for (std::uint64_t step = 0; step < 2000; ++step) {
    for (int w = 0; w < 2; ++w) {
      Vector update(size);
      for (std::size_t i = 0; i < size; ++i) update[i] = -0.05F * (x[i] - target[w][i]);
      for (const auto& block : compressed(worker[w], update, step)) ASSERT_TRUE(accumulate(block, sum, 0.5F).ok());
    }
    for (std::size_t i = 0; i < size; ++i) x[i] += sum[i];
  }
  for (std::size_t i = 0; i < size; ++i) ASSERT_NEAR(x[i], (target[0][i] + target[1][i]) / 2, 1e-4);
}

TEST(Ef21, OfTheUpdateADenseCompressorIsGradientDescent) {
  ErrorFeedback group = group_of("ef21 of=update | dense", 500);
  Vector sum(500, 0.0F);
  for (std::uint64_t step = 0; step < 20; ++step) {
    const auto update = whole_vector(500, step);
    add(compressed(group, update, step), sum);
    ASSERT_EQ(sum, update);
  }
  EXPECT_FALSE(group.conserves());
  EXPECT_FALSE(group.lossless());
}

TEST(Ef21, AFlushMakesTheEstimateExact) {
  for (const char* memory : {"ef21 | ", "ef21 of=update | "}) {
    ErrorFeedback group = group_of(std::string(memory) + "topk ratio=0.01", 500);
    Vector server(500, 0.0F);
    const auto update = whole_vector(500, 3);
    add(compressed(group, update), server);
    EXPECT_NE(server, update);
    add(group.flush(), server);
    EXPECT_EQ(server, update);
    EXPECT_EQ(sum_of(compressed(group, Vector(500, 0.0F)), 500).size(), 500U);
  }
}

TEST(Ef21, WhatWasRejectedIsStillOwed) {
  ErrorFeedback group = group_of("ef21 | topk ratio=0.1", 500);
  Vector server(500, 0.0F);
  Vector wanted(500, 0.0F);
  for (std::uint64_t step = 0; step < 30; ++step) {
    const auto delta = whole_vector(500, step);
    for (std::size_t i = 0; i < 500; ++i) wanted[i] += delta[i];
    const auto blocks = compressed(group, delta, step);
    if (step % 4 == 1) {
      ASSERT_TRUE(group.restore(blocks).ok());
    } else {
      add(blocks, server);
    }
  }
  add(group.flush(), server);
  EXPECT_EQ(server, wanted);
}

TEST(Ef21, OptionsAreChecked) {
  EXPECT_NE(refusal_of("ef21 of=gradient | topk").find("sum, update"), std::string::npos);
  EXPECT_NE(refusal_of("ef21 beta=1 | topk").find("beta"), std::string::npos);
}

}  // namespace
}  // namespace hourglass::compress::testing
