// SPDX-License-Identifier: Apache-2.0
// A store goes on from a checkpoint bit for bit, and a worker's replica takes over what an earlier one held back.
#include "learning/params/parameter_store.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "learning/params/replica.h"

namespace hourglass::params {
namespace {

constexpr std::size_t kSize = 3000;

std::vector<float> random_vector(std::uint64_t seed) {
  Random random(seed);
  std::vector<float> out(kSize);
  for (float& value : out) value = static_cast<float>(random.normal());
  return out;
}

compress::ErrorFeedback memory(std::string_view spec) {
  auto made = compress::ErrorFeedback::make(spec, {{0, 2500, false}, {2500, 500, true}}, kSize);
  HG_CHECK(made.ok(), made.ok() ? "" : made.error().text);
  return std::move(*made);
}

struct Case {
  const char* name;
  const char* downlink;
  const char* server;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class StoreState : public testing::TestWithParam<Case> {
 protected:
  static ParameterStore make(const std::vector<float>& initial) {
    Job job;
    job.server = GetParam().server;
    job.optimizer = "sgd";
    auto rule = make_server_rule(job, kSize);
    HG_CHECK(rule.ok(), rule.ok() ? "" : rule.error().text);
    return {initial, memory(GetParam().downlink), std::move(*rule)};
  }
};

TEST_P(StoreState, C15_GoesOnFromASavedStateBitForBit) {
  const auto initial = random_vector(1);
  ParameterStore first = make(initial);
  Replica worker(initial, memory("topk ratio=0.1"));
  const auto drive = [&](ParameterStore& store, std::uint64_t clock, const std::vector<GradientBlock>& blocks) {
    store.apply(blocks, 0.5F, 0.1);
    if (clock % 3 != 2) store.publish();  // something applied and unpublished is in the picture
  };
  std::uint64_t clock = 0;
  for (; clock < 9; ++clock) {
    worker.step(random_vector(10 + clock));
    drive(first, clock, *worker.push(clock, false, true));
  }
  ASSERT_LT(first.published_version(), first.version());
  ArchiveWriter saved;
  first.save(saved);
  const Bytes bytes = saved.take();
  ParameterStore second = make(random_vector(99));
  ArchiveReader reader(bytes);
  ASSERT_TRUE(second.load({first.exact().begin(), first.exact().end()}, reader));
  EXPECT_EQ(second.version(), first.version());
  EXPECT_EQ(second.published(), first.published());
  for (; clock < 15; ++clock) {
    worker.step(random_vector(10 + clock));
    const auto blocks = *worker.push(clock, false, true);
    drive(first, clock, blocks);
    drive(second, clock, blocks);
  }
  EXPECT_EQ(second.published_version(), first.published_version());
  EXPECT_EQ(second.published(), first.published());
  EXPECT_TRUE(std::equal(second.exact().begin(), second.exact().end(), first.exact().begin()));
  for (std::size_t size = 0; size < bytes.size(); size += 97) {
    const std::span<const std::byte> part(bytes.data(), size);
    ArchiveReader cut(part);
    ParameterStore third = make(initial);
    ASSERT_FALSE(third.load(random_vector(5), cut)) << size;
    ASSERT_EQ(third.published(), initial) << "nothing changed";
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, StoreState,
                         testing::Values(Case{"lossless", "dense", "add"}, Case{"compressed", "topk ratio=0.05", "add"},
                                         Case{"amsgrad", "dense", "amsgrad"}, Case{"amsgrad_compressed", "topk ratio=0.05", "amsgrad"}),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(StoreState, AStateOfAnotherRuleIsRefused) {
  ParameterStore plain(random_vector(1), memory("dense"));
  ArchiveWriter saved;
  plain.save(saved);
  const Bytes bytes = saved.take();
  Job job;
  job.server = "amsgrad";
  job.optimizer = "sgd";
  ParameterStore ruled(random_vector(1), memory("dense"), std::move(*make_server_rule(job, kSize)));
  ArchiveReader reader(bytes);
  EXPECT_FALSE(ruled.load(random_vector(2), reader));
  EXPECT_EQ(ruled.published(), random_vector(1));
}

double sum_of(std::span<const float> values) {
  double out = 0;
  for (const float value : values) out += value;
  return out;
}

class Inheritance : public testing::TestWithParam<const char*> {};

/// Five pushes: 0 and 1 applied, 2 rejected, 3 applied, 4 without a verdict.
TEST_P(Inheritance, WhatWasRolledBackReturnsToTheResidualAndNothingElse) {
  const std::vector<float> zero(kSize, 0.0F);
  Replica earlier(zero, memory(GetParam()));
  std::vector<std::vector<float>> pushed;
  for (std::uint64_t clock = 0; clock < 5; ++clock) {
    earlier.step(random_vector(20 + clock));
    std::vector<float> decoded(kSize, 0.0F);
    for (const GradientBlock& block : *earlier.push(clock, false, true)) ASSERT_TRUE(compress::accumulate(block, decoded).ok());
    pushed.push_back(std::move(decoded));
    if (clock < 4) earlier.settle(clock, clock == 2 ? Verdict::stale : Verdict::applied);
  }
  earlier.step(random_vector(77));  // in no push: its samples come again
  const std::vector<float> held(earlier.residual().begin(), earlier.residual().end());
  Replica next(zero, memory(GetParam()));
  const auto taken = next.inherit(std::move(earlier), PushMarks{2, 0});
  EXPECT_EQ(taken.returned, 2U) << "3 and 4";
  EXPECT_EQ(taken.lost, 0U);
  EXPECT_TRUE(taken.kept_residual);
  const double expected = sum_of(held) + sum_of(pushed[3]) + sum_of(pushed[4]);
  EXPECT_NEAR(sum_of(next.residual()), expected, 1e-2 + 1e-4 * std::abs(expected));
}

TEST_P(Inheritance, OpenVerdictsAreReadOffTheMarksAndWithoutThemOpenPushesAreLost) {
  const std::vector<float> zero(kSize, 0.0F);
  for (const bool marks : {true, false}) {
    Replica earlier(zero, memory(GetParam()));
    for (std::uint64_t clock = 0; clock < 3; ++clock) {
      earlier.step(random_vector(30 + clock));
      ASSERT_TRUE(earlier.push(clock, false, true).ok());
    }
    Replica next(zero, memory(GetParam()));
    // All three had arrived; the one in the middle was rejected.
    const auto taken = next.inherit(std::move(earlier), marks ? std::optional(PushMarks{3, 0b010}) : std::nullopt);
    EXPECT_EQ(taken.returned, marks ? 1U : 0U);
    EXPECT_EQ(taken.lost, marks ? 0U : 3U);
  }
}

INSTANTIATE_TEST_SUITE_P(Specs, Inheritance, testing::Values("dense", "topk ratio=0.01", "topk ratio=0.01 | two_level | rice"),
                         [](const auto& row) { return "row" + std::to_string(row.index); });

}  // namespace
}  // namespace hourglass::params
