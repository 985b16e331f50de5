// SPDX-License-Identifier: Apache-2.0
#include "learning/params/merged_deltas.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/random.h"
#include "learning/compress/compressor.h"
#include "learning/params/published.h"

namespace hourglass::params {
namespace {

constexpr std::size_t kWide = 4000;
constexpr std::size_t kNarrow = 20;

/// A published stream of two ranges: a wide one in which a few hot entries change in each version, a narrow one sent whole.
struct Stream {
  explicit Stream(std::string_view spec, double hot) : hot_(hot) {
    wide = compress::make_compressor(spec, {1, kWide}).value();
    narrow = compress::make_compressor("dense | bf16", {1, kNarrow}).value();
  }
  VersionDelta next() {
    std::vector<float> step(kWide + kNarrow);
    for (float& value : step) value = random.normal() * 0.01F;
    for (std::size_t i = 0; i < 40; ++i) step[i * 97] *= static_cast<float>(hot_);
    VersionDelta delta;
    delta.to = ++version;
    delta.blocks.push_back(wide->compress({step.data(), kWide}, version));
    delta.blocks.push_back(narrow->compress({step.data() + kWide, kNarrow}, version));
    delta.blocks.back().offset = kWide;
    for (const GradientBlock& block : delta.blocks) EXPECT_TRUE(compress::accumulate(block, values).ok());
    return delta;
  }
  std::unique_ptr<compress::Compressor> wide, narrow;
  std::vector<float> values = std::vector<float>(kWide + kNarrow, 0.5F);
  std::uint64_t version = 0;
  Random random{7};

 private:
  double hot_;
};

std::size_t bytes_of(const std::vector<VersionDelta>& deltas) {
  std::size_t bytes = 0;
  for (const VersionDelta& delta : deltas) {
    for (const GradientBlock& block : delta.blocks) bytes += block.indices.size() + block.values.size();
    for (const GradientBlock& block : delta.replaced) bytes += block.indices.size() + block.values.size();
  }
  return bytes;
}

std::size_t replaced_in(const std::vector<VersionDelta>& deltas) { return deltas.back().replaced.size(); }

TEST(MergedDeltas, FollowersOfAnyVersionAreBitIdentical) {
  for (const char* spec : {"topk ratio=0.01 | two_level | rice", "topk ratio=0.01 | f32 | raw", "topk ratio=0.01 | u8 | bitmap"}) {
    Stream stream(spec, 100);
    DeltaRing ring;
    std::vector<PublishedCopy> followers(4, PublishedCopy(stream.values));
    std::size_t merged_ones = 0;
    for (std::uint64_t version = 0; version < 24; ++version) {
      ring.push(version, stream.next());
      for (std::size_t i = 0; i < followers.size(); ++i) {
        if (stream.version % (2 * i + 1) != 0) continue;  // each falls behind by another number of versions
        auto deltas = ring.since(followers[i].version(), stream.values);
        if (!deltas.ok()) {
          ASSERT_TRUE(followers[i].absorb(stream.values, stream.version).ok()) << "smaller as a whole";
          continue;
        }
        merged_ones += replaced_in(*deltas);
        ParameterUpdate update;
        update.from = followers[i].version();
        update.deltas = std::move(*deltas);
        ASSERT_EQ(followers[i].absorb(update).value(), Taken::deltas);
        ASSERT_EQ(followers[i].version(), stream.version);
        ASSERT_EQ(std::memcmp(followers[i].values().data(), stream.values.data(), stream.values.size() * sizeof(float)), 0) << spec;
      }
    }
    EXPECT_GT(merged_ones, 0U) << spec;
  }
}

TEST(MergedDeltas, MergesOnlyWhatGetsSmaller) {
  Stream hot("topk ratio=0.01 | two_level | rice", 100);
  std::vector<VersionDelta> deltas;
  for (int i = 0; i < 8; ++i) deltas.push_back(hot.next());
  std::vector<const VersionDelta*> chain;
  for (const VersionDelta& delta : deltas) chain.push_back(&delta);
  const auto both = merged(chain, hot.values);
  ASSERT_TRUE(both.has_value());
  EXPECT_EQ(replaced_in(*both), 2U) << "the same entries over and over, and the narrow range";
  EXPECT_LT(2 * bytes_of(*both), bytes_of(deltas));

  Stream cold("topk ratio=0.01 | two_level | rice", 1);
  deltas.clear();
  for (int i = 0; i < 8; ++i) deltas.push_back(cold.next());
  const auto one = merged(chain, cold.values);
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(replaced_in(*one), 1U) << "other entries each time cost more as values";
  EXPECT_EQ(one->front().blocks.size(), 1U);
  EXPECT_LT(bytes_of(*one), bytes_of(deltas));
}

TEST(MergedDeltas, ARelayPassesOnWhatWasMergedForIt) {
  // A node three versions behind takes a merged chain; its children, at any version in between, follow it bit for bit.
  Stream stream("topk ratio=0.01 | two_level | rice", 100);
  DeltaRing above, below;
  std::vector<std::vector<float>> at{stream.values};
  for (std::uint64_t version = 0; version < 9; ++version) {
    above.push(version, stream.next());
    at.push_back(stream.values);
  }
  auto chain = above.since(2, stream.values);
  ASSERT_TRUE(chain.ok());
  ASSERT_GT(replaced_in(*chain), 0U);
  for (VersionDelta& delta : *chain) below.push(delta.to - 1, std::move(delta));
  PublishedCopy child(at[2]);
  ParameterUpdate update;
  update.from = 2;
  update.deltas = below.since(2, stream.values).value();
  PublishedCopy late(at[0]);
  ASSERT_TRUE(late.absorb(at[2], 2).ok());
  ASSERT_EQ(late.absorb(update).value(), Taken::deltas);
  EXPECT_EQ(std::memcmp(late.values().data(), stream.values.data(), stream.values.size() * sizeof(float)), 0);
}

TEST(MergedDeltas, WhatOverlapsStaysApart) {
  std::vector<float> newest(100, 1.0F);
  VersionDelta wide = whole(1, newest), narrow = whole(2, std::span<const float>(newest).first(50));
  VersionDelta wide_again = whole(3, newest);
  const std::vector<float> large(1000);
  const auto out = merged({&wide, &narrow, &wide_again}, large);
  ASSERT_TRUE(out.has_value());
  EXPECT_EQ(replaced_in(*out), 0U);
}

}  // namespace
}  // namespace hourglass::params
