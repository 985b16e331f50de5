// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/learning/compress/published_stream.h"

namespace hourglass::compress::testing {
namespace {

constexpr std::size_t kLength = 5000;  // k = 100

std::set<std::size_t> support(std::span<const float> values) {
  std::set<std::size_t> out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != 0) out.insert(i);
  }
  return out;
}

TEST(CltK, UnionIsKWhateverTheWorkers) {
  for (const std::size_t workers : {2UL, 4UL, 8UL, 16UL}) {
    Rounds rounds("clt_k ratio=0.02", workers, kLength);
    HotSet stream(kLength);
    EXPECT_GT(rounds.run([&](std::size_t) { return stream.next(); }), 100U) << "nothing is known yet";
    for (int round = 1; round < 60; ++round) EXPECT_EQ(rounds.run([&](std::size_t) { return stream.next(); }), 100U) << round;
    EXPECT_EQ(rounds.largest, 100U);
  }
}

TEST(CltK, LeadersTakeTurnsAndAreFollowed) {
  constexpr std::size_t kWorkers = 3;
  Rounds rounds("clt_k ratio=0.02", kWorkers, kLength);
  HotSet stream(kLength);
  const auto next = [&](std::size_t) { return stream.next(); };
  rounds.run(next);
  rounds.run(next);
  for (std::size_t turn = 1; turn < 10; ++turn) {
    const std::size_t leader = turn % kWorkers;
    std::vector<float> sums(rounds.memory(leader).residual().begin(), rounds.memory(leader).residual().end());
    rounds.run([&](std::size_t p) {
      const auto delta = stream.next();
      for (std::size_t i = 0; p == leader && i < kLength; ++i) sums[i] += delta[i];
      return delta;
    });
    const auto chosen = support(rounds.sent[leader]);
    EXPECT_EQ(chosen, support(decoded(compressor_of("topk ratio=0.02", kLength)->compress(sums, 0), kLength))) << turn;
    for (std::size_t p = 0; p < kWorkers; ++p) EXPECT_EQ(support(rounds.sent[p]).empty(), p != leader) << turn;
    rounds.run(next);
    for (std::size_t p = 0; p < kWorkers; ++p) EXPECT_EQ(support(rounds.sent[p]), chosen) << turn;
  }
}

TEST(CltK, AloneIsTopk) {
  const auto compressor = compressor_of("clt_k ratio=0.02", kLength);
  const auto topk = compressor_of("topk ratio=0.02", kLength);
  for (std::uint64_t step = 0; step < 6; ++step) {
    const auto values = normal_vector(kLength, step);
    EXPECT_TRUE(equal(compressor->compress(values, step), topk->compress(values, step))) << step;
    compressor->observe({{1, 2, 3}, {1, 2, 3}});
  }
}

TEST(CltK, OfMoreThanKPublishedTheLargestAreAgreed) {
  const auto compressor = compressor_of("clt_k ratio=0.2", 10);  // k = 2
  compressor->take_seat({1, 2});
  compressor->observe({{0, 3, 5, 8}, {1, -4, 0, 2}});
  const std::vector<float> values = {9, 9, 9, 1, 9, 9, 9, 9, 2, 9};
  EXPECT_EQ(decoded(compressor->compress(values, 1), 10), std::vector<float>({0, 0, 0, 1, 0, 0, 0, 0, 2, 0}));
  compressor->observe({{4}, {0}});  // nothing
  EXPECT_EQ(compressor->compress(values, 3).count, 2U);
  EXPECT_EQ(compressor->compress(values, 4).count, 0U) << "the other one leads";
  EXPECT_EQ(decoded(compressor->compress(values, 6), 10), std::vector<float>({9, 9, 0, 0, 0, 0, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace hourglass::compress::testing
