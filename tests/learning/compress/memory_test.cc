// SPDX-License-Identifier: Apache-2.0
// What every memory must do around every kind of compressor, held against its formula written out plainly.
#include "learning/compress/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/learning/compress/groups.h"

namespace hourglass::compress::testing {
namespace {

using Vector = std::vector<float>;

/// A memory's formula: what is to be compressed, and what is held after `sent` has gone out.
struct Formula {
  std::string spec;
  float taken_back = 1;  ///< share of a restored block that returns to what is held
  std::function<void(const Vector& delta, const Vector& sent, std::vector<Vector>& state)> step;  ///< state[0] is what is held
};

std::vector<Formula> formulas() {
  const auto feedback = [](float decay) {
    return [decay](const Vector& delta, const Vector& sent, std::vector<Vector>& state) {
      for (std::size_t i = 0; i < delta.size(); ++i) state[0][i] = (decay * state[0][i] + delta[i]) - sent[i];
    };
  };
  const auto momentum = [](float m, bool nesterov, bool masking) {
    return [=](const Vector& delta, const Vector& sent, std::vector<Vector>& state) {
      for (std::size_t i = 0; i < delta.size(); ++i) {
        float& v = state[0][i];
        float& u = state[1][i];
        u = m * u + (nesterov ? m * delta[i] : delta[i]);
        v = nesterov ? (v + delta[i]) + u : v + u;
        v -= sent[i];
        if (masking && sent[i] != 0) u = 0;
      }
    };
  };
  const auto low_pass = [](float beta) {
    return [beta](const Vector& delta, const Vector& sent, std::vector<Vector>& state) {
      for (std::size_t i = 0; i < delta.size(); ++i) {
        const float m = state[0][i];
        state[0][i] = (1 - beta) * m + beta * ((m + delta[i]) - sent[i]);
      }
    };
  };
  const auto ef21 = [](bool of_sum) {  // state[1]: the receiver's sum; state[2]: x
    return [of_sum](const Vector& delta, const Vector& sent, std::vector<Vector>& state) {
      for (std::size_t i = 0; i < delta.size(); ++i) {
        state[2][i] = of_sum ? state[2][i] + delta[i] : delta[i];
        state[0][i] = (state[2][i] - state[1][i]) - sent[i];
        state[1][i] += sent[i];
      }
    };
  };
  return {{"feedback", 1, feedback(1)},
          {"feedback decay=0.5", 1, feedback(0.5F)},
          {"dgc_momentum", 1, momentum(0.9F, false, true)},
          {"dgc_momentum momentum=0.5 nesterov=1", 1, momentum(0.5F, true, true)},
          {"dgc_momentum masking=0", 1, momentum(0.9F, false, false)},
          {"low_pass beta=0.25", 0.25F, low_pass(0.25F)},
          {"low_pass beta=1", 1, low_pass(1)},
          {"ef21", 1, ef21(true)},
          {"ef21 of=update", 1, ef21(false)}};
}

using Case = std::tuple<std::size_t, std::string>;
class MemoryContract : public ::testing::TestWithParam<Case> {
 protected:
  Formula formula = formulas()[std::get<0>(GetParam())];
  std::string spec = formula.spec + " | " + std::get<1>(GetParam());
  [[nodiscard]] ErrorFeedback make(std::size_t size) const { return group_of(spec, size); }
};

TEST_P(MemoryContract, FollowsItsFormulaBitForBit) {
  std::size_t refused = 0;
  for (const auto& [name, values] : hard_vectors()) {
    SCOPED_TRACE(name);
    const std::size_t size = values.size();
    ErrorFeedback group = make(size);
    std::vector<Vector> state(3, Vector(size, 0.0F));
    for (std::uint64_t step = 0; step < 6; ++step) {
      const Vector delta = step % 3 == 0 ? values : normal_vector(size, 40 + step);
      const auto blocks = group.compress(delta, step);
      if (!blocks.ok()) {
        ASSERT_EQ(blocks.error().code, Errc::bad_data);
        ++refused;
      } else {
        formula.step(delta, sum_of(*blocks, size), state);
      }
      ASSERT_EQ(residual_of(group), state[0]) << step;
      ASSERT_TRUE(std::isfinite(group.residual_norm()));
    }
  }
  EXPECT_LE(refused, 5U);  // the largest floats alone, with others added to them
}

TEST_P(MemoryContract, C9_NonFiniteIsRefusedAndChangesNothing) {
  const std::size_t size = 3000;
  ErrorFeedback group = make(size);
  ErrorFeedback twin = make(size);
  for (std::uint64_t step = 0; step < 4; ++step) {
    for (const float bad : {std::nanf(""), HUGE_VALF, -HUGE_VALF}) {
      Vector poisoned = normal_vector(size, 9);
      poisoned[(step * 1000) % size] = bad;
      const auto refused = group.compress(poisoned, step);
      ASSERT_FALSE(refused.ok());
      EXPECT_EQ(refused.error().code, Errc::bad_data);
    }
    const auto delta = normal_vector(size, step);
    const auto blocks = compressed(group, delta, step);
    const auto expected = compressed(twin, delta, step);
    ASSERT_EQ(blocks.size(), expected.size());
    for (std::size_t i = 0; i < blocks.size(); ++i) EXPECT_TRUE(equal(blocks[i], expected[i]));
    EXPECT_EQ(residual_of(group), residual_of(twin));
  }
}

TEST_P(MemoryContract, WhatDoesNotFitAFloatIsRefusedAndChangesNothing) {
  ErrorFeedback group = make(4);
  compressed(group, {1, 2, 3, 4});
  for (int round = 0; round < 8; ++round) {
    const auto before = residual_of(group);
    if (!group.compress(Vector{3e38F, 3e38F, -3e38F, 1}, 1).ok()) {
      EXPECT_EQ(residual_of(group), before);
    }
    for (const float value : group.residual()) ASSERT_TRUE(std::isfinite(value));
  }
}

TEST_P(MemoryContract, RestoreTakesBackAllOrNothing) {
  const std::size_t size = 2000;
  ErrorFeedback group = make(size);
  compressed(group, normal_vector(size, 1), 0);
  auto blocks = compressed(group, normal_vector(size, 2), 1);
  const auto sent = sum_of(blocks, size);
  auto expected = residual_of(group);
  ASSERT_FALSE(blocks.empty());
  auto bad = blocks;
  bad.push_back(bad.front());
  bad.back().offset = 1;
  EXPECT_EQ(group.restore(bad).error().code, Errc::malformed);
  EXPECT_EQ(residual_of(group), expected);
  for (std::size_t i = 0; i < size; ++i) expected[i] += formula.taken_back * sent[i];
  ASSERT_TRUE(group.restore(blocks).ok());
  EXPECT_EQ(residual_of(group), expected);
}

TEST_P(MemoryContract, FlushSendsWhatIsHeldAndEmptiesIt) {
  const std::size_t size = 2000;
  ErrorFeedback group = make(size);
  Vector server(size, 0.0F);
  for (std::uint64_t step = 0; step < 5; ++step) add(compressed(group, normal_vector(size, step), step), server);
  const auto held = residual_of(group);
  EXPECT_EQ(sum_of(group.flush(), size), held);
  EXPECT_TRUE(group.flush().empty());
  EXPECT_EQ(group.residual_norm(), 0);
  EXPECT_TRUE(group.compress(normal_vector(size, 7), 7).ok());
}

TEST_P(MemoryContract, SentAndHeldAreAllUpdatesWhereItSaysSo) {
  const std::size_t size = 3000;
  ErrorFeedback group = group_of(spec, {{0, 2900, false}, {2900, 100, true}});
  Vector sum(size, 0.0F);
  Vector wanted(size, 0.0F);
  for (std::uint64_t step = 0; step < 30; ++step) {
    const auto delta = whole_vector(size, step);
    for (std::size_t i = 0; i < size; ++i) wanted[i] += delta[i];
    const auto blocks = compressed(group, delta, step);
    if (step % 7 == 3) {
      ASSERT_TRUE(group.restore(blocks).ok());
    } else {
      add(blocks, sum);
    }
  }
  add(group.flush(), sum);
  double most = 0;
  for (std::size_t i = 0; i < size; ++i) most = std::max(most, std::abs(static_cast<double>(sum[i]) - wanted[i]));
  if (group.conserves()) {
    EXPECT_LE(most, spec.find("two_level") == std::string::npos ? 0.0 : 0.01);
  } else {
    EXPECT_GT(most, 1.0);
  }
}

TEST_P(MemoryContract, NothingToSaySendsNothing) {
  ErrorFeedback group = make(1000);
  EXPECT_TRUE(compressed(group, Vector(1000, 0.0F)).empty());
  EXPECT_TRUE(group.flush().empty());
}

TEST_P(MemoryContract, SameInputSameBlocks) {
  ErrorFeedback one = make(2000);
  ErrorFeedback two = make(2000);
  for (std::uint64_t step = 0; step < 5; ++step) {
    const auto a = compressed(one, normal_vector(2000, step), step);
    const auto b = compressed(two, normal_vector(2000, step), step);
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_TRUE(equal(a[i], b[i]));
  }
}

std::string test_name(const ::testing::TestParamInfo<Case>& info) {
  std::string out = formulas()[std::get<0>(info.param)].spec + "_" + std::get<1>(info.param);
  for (char& c : out) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return out;
}

INSTANTIATE_TEST_SUITE_P(Memories, MemoryContract,
                         ::testing::Combine(::testing::Range(std::size_t{0}, formulas().size()),
                                            ::testing::Values("topk ratio=0.01", "topk ratio=0.01 | two_level | rice", "dense | bf16")),
                         test_name);

TEST(Memory, EveryRowIsInTheContract) {
  const auto all = formulas();
  for (const Stage& stage : stages()) {
    if (stage.row.kind != StageKind::memory || stage.row.name == "none") continue;
    EXPECT_TRUE(std::ranges::any_of(all, [&](const Formula& each) { return each.spec.starts_with(stage.row.name); })) << stage.row.name;
  }
}

TEST(Headroom, RefusesWhatTheBoundLeavesInDoubtOnlyByLooking) {
  const Reach reach;
  Headroom room;
  Vector held = {3e38F, 1};
  EXPECT_TRUE(room.admits(held, Vector(2, 0.0F), reach));
  EXPECT_TRUE(room.admits(Vector{-3e38F, 3e38F}, held, reach));
  EXPECT_FALSE(room.admits(Vector{1e38F, 0}, held, reach));
  room.measure(held);
  EXPECT_FALSE(room.admits(Vector{0, 0}, held, {.lossless = false, .keeps_range = false}));
  room.clear();
  EXPECT_TRUE(room.admits(Vector{1e29F, 0}, held, {.lossless = false, .keeps_range = false}));
}

TEST(Mix, IsTwoRoundedProductsAndASum) {
  for (const std::size_t size : {0UL, 1UL, 7UL, 64UL, 1001UL}) {
    auto values = normal_vector(size, 1);
    const auto added = normal_vector(size, 2);
    auto expected = values;
    for (std::size_t i = 0; i < size; ++i) expected[i] = 0.9F * expected[i] + 0.3F * added[i];
    mix(values, 0.9F, added, 0.3F);
    EXPECT_EQ(values, expected);
  }
}

}  // namespace
}  // namespace hourglass::compress::testing
