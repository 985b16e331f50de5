// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/chunk_topk.h"

#include <gtest/gtest.h>

#include "tests/learning/compress/selectors.h"

namespace hourglass::compress::testing {
namespace {

/// Each chunk by the definition.
std::vector<std::uint32_t> oracle(std::span<const float> values, std::size_t chunk, std::size_t k) {
  std::vector<std::uint32_t> out;
  for (std::size_t at = 0; at < values.size(); at += chunk) {
    const std::size_t length = std::min(chunk, values.size() - at);
    const std::size_t wanted = length == chunk ? k : (k * length + chunk - 1) / chunk;
    for (const std::uint32_t index : largest_of(values.subspan(at, length), wanted)) out.push_back(static_cast<std::uint32_t>(at) + index);
  }
  return out;
}

TEST(ChunkTopK, EqualsTheDefinition) {
  for (const auto& [chunk, k] : {std::pair{16UL, 1UL}, {64UL, 3UL}, {64UL, 64UL}, {1000UL, 300UL}, {4096UL, 64UL}, {1UL << 20, 500UL}}) {
    const auto selector = selector_of("chunk_topk chunk=" + std::to_string(chunk) + " k=" + std::to_string(k));
    for (const auto& [name, values] : hard_vectors()) {
      SCOPED_TRACE(name + " in " + std::to_string(chunk));
      const auto expected = oracle(values, chunk, k);
      const Entries sent = selected(*selector, values);
      ASSERT_EQ(sent.indices, expected);
      ASSERT_TRUE(are_entries_of(sent, values));
    }
  }
}

TEST(ChunkTopK, TiesGoToTheLowerIndex) {
  const auto selector = selector_of("chunk_topk chunk=512 k=8");
  Random random(4);
  for (const unsigned kinds : {1U, 2U, 3U, 10U, 100U}) {
    std::vector<float> values(50000);
    for (auto& value : values) value = static_cast<float>(random.below(kinds)) * (random.below(2) == 0 ? 1.0F : -1.0F);
    EXPECT_EQ(selected(*selector, values).indices, oracle(values, 512, 8)) << kinds;
    EXPECT_EQ(selected_of_sum(*selector, values).indices, oracle(values, 512, 8)) << kinds;
  }
}

TEST(ChunkTopK, AGuessFromTheLastChunkCostsTimeOnly) {
  const auto selector = selector_of("chunk_topk");
  for (const float scale : {1.0F, 0.5F, 100.0F, 1e-30F, 1e30F, 0.0F, 1.0F}) {
    auto values = normal_vector(50000, 17);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] *= i / 4096 % 3 == 1 ? 1e-3F * scale : scale;
    EXPECT_EQ(selected(*selector, values).indices, oracle(values, 4096, 64)) << scale;
    EXPECT_EQ(selected_of_sum(*selector, values).indices, oracle(values, 4096, 64)) << scale;
  }
}

TEST(ChunkTopK, ExactlyKInEveryChunk) {
  const auto values = normal_vector(20 * 4096, 1);
  for (const auto& [spec, k] : {std::pair{"chunk_topk", 64UL}, {"chunk_topk k=7", 7UL}, {"chunk_topk ratio=0.01", 41UL}}) {
    const auto selector = selector_of(spec);
    std::vector<std::size_t> counts(20, 0);
    for (const std::uint32_t index : selected(*selector, values).indices) ++counts[index / 4096];
    EXPECT_EQ(counts, std::vector<std::size_t>(20, k)) << spec;
  }
}

TEST(ChunkTopK, ARatioPolicySetsK) {
  const auto values = normal_vector(8192, 1);
  const auto selector = selector_of("chunk_topk");
  selector->set_ratio(0.25);
  EXPECT_EQ(selected(*selector, values).indices.size(), 2048U);
  selector->set_ratio(1e-6);
  EXPECT_EQ(selected(*selector, values).indices.size(), 2U);
}

TEST(ChunkTopK, C5_TheLastPlaceIsSent) { EXPECT_TRUE(sends_the_last("chunk_topk")); }

TEST(ChunkTopK, RefusesOptionsOutsideTheirRanges) {
  EXPECT_TRUE(refuses({"chunk_topk chunk=8", "chunk_topk chunk=2000000", "chunk_topk chunk=64 k=65", "chunk_topk k=0", "chunk_topk ratio=0",
                       "chunk_topk k=5 ratio=0.1", "chunk_topk size=5"}));
}

}  // namespace
}  // namespace hourglass::compress::testing
