// SPDX-License-Identifier: Apache-2.0
#include "learning/params/merge_node.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/random.h"

namespace hourglass::params {
namespace {

using compress::ErrorFeedback;
using compress::Segment;
using Vector = std::vector<float>;

/// Whole numbers, so that sums of f32 are exact whatever their order.
Vector whole_numbers(Random& random, std::size_t count) {
  Vector out(count);
  for (float& value : out) value = static_cast<float>(static_cast<int>(random.below(2001)) - 1000);
  return out;
}

Vector normal(Random& random, std::size_t count) {
  Vector out(count);
  for (float& value : out) value = static_cast<float>(random.normal());
  return out;
}

void add_to(std::vector<double>& sum, std::span<const float> values) {
  for (std::size_t i = 0; i < values.size(); ++i) sum[i] += values[i];
}

Vector decoded(std::span<const GradientBlock> blocks, std::size_t size) {
  Vector out(size, 0.0F);
  for (const GradientBlock& block : blocks) EXPECT_TRUE(compress::accumulate(block, out).ok());
  return out;
}

std::vector<GradientBlock> sparse_push(std::size_t length, std::vector<std::uint32_t> indices, const Vector& values) {
  GradientBlock block;
  block.length = length;
  block.count = indices.size();
  block.index_codec = IndexCodec::raw;
  block.indices = to_bytes(std::span<const std::uint32_t>(indices));
  block.values = to_bytes(std::span<const float>(values));
  return {block};
}

MergeNode node_of(std::string_view spec, double keep, std::vector<Segment> segments, std::size_t size) {
  auto made = MergeNode::make(spec, keep, std::move(segments), size);
  EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().text);
  return std::move(*made);
}

/// A complete tree of merge nodes over workers with error feedback, synchronous.
class Tree {
 public:
  Tree(std::string_view spec, double keep, std::vector<Segment> segments, std::size_t size, std::size_t workers, std::size_t arity)
      : size_(size), arity_(arity) {
    for (std::size_t i = 0; i < workers; ++i) workers_.push_back(std::move(*ErrorFeedback::make(spec, segments, size)));
    for (std::size_t width = (workers + arity - 1) / arity;; width = (width + arity - 1) / arity) {
      std::vector<MergeNode> level;
      for (std::size_t i = 0; i < width; ++i) level.push_back(node_of(spec, keep, segments, size));
      levels_.push_back(std::move(level));
      if (width == 1) break;
    }
  }

  /// What reaches the root.
  Vector round(const std::vector<Vector>& gradients, std::uint64_t step) {
    std::vector<std::vector<GradientBlock>> pushes;
    for (std::size_t i = 0; i < workers_.size(); ++i) pushes.push_back(*workers_[i].compress(gradients[i], step));
    for (std::vector<MergeNode>& level : levels_) {
      std::vector<std::vector<GradientBlock>> forwarded;
      for (std::size_t i = 0; i < pushes.size(); ++i) EXPECT_TRUE(level[i / arity_].add(pushes[i]).ok());
      for (MergeNode& node : level) forwarded.push_back(node.take(step));
      pushes = std::move(forwarded);
    }
    for (const GradientBlock& block : pushes[0]) entries_at_root += block.count;
    return decoded(pushes[0], size_);
  }

  [[nodiscard]] std::vector<double> held() const {
    std::vector<double> sum(size_, 0.0);
    for (const ErrorFeedback& worker : workers_) add_to(sum, worker.residual());
    for (const auto& level : levels_) {
      for (const MergeNode& node : level) add_to(sum, node.residual());
    }
    return sum;
  }

  std::uint64_t entries_at_root = 0;

 private:
  std::size_t size_, arity_;
  std::vector<ErrorFeedback> workers_;
  std::vector<std::vector<MergeNode>> levels_;
};

struct Case {
  const char* name;
  const char* spec;
  double keep;
  std::size_t workers, arity;
  bool exact;  ///< all sums are of whole numbers below 2^24
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class MassOfATree : public testing::TestWithParam<Case> {};

TEST_P(MassOfATree, IsWhatTheGradientsWere) {
  constexpr std::size_t kSize = 500;
  const std::vector<Segment> segments = {{0, 300, false, 30}, {300, 150}, {450, 50, true}};
  const Case& c = GetParam();
  Tree tree(c.spec, c.keep, segments, kSize, c.workers, c.arity);
  Random random(7);
  std::vector<double> gradients(kSize, 0.0), applied(kSize, 0.0);
  double scale = 0;
  for (std::uint64_t step = 0; step < 40; ++step) {
    std::vector<Vector> each;
    for (std::size_t i = 0; i < c.workers; ++i) {
      each.push_back(c.exact ? whole_numbers(random, kSize) : normal(random, kSize));
      add_to(gradients, each.back());
      for (const float value : each.back()) scale += std::abs(value) / kSize;
    }
    add_to(applied, tree.round(each, step));
    std::vector<double> balance = tree.held();
    for (std::size_t i = 0; i < kSize; ++i) {
      const double left = balance[i] + applied[i] - gradients[i];
      ASSERT_LE(std::abs(left), c.exact ? 0.0 : 1e-5 * scale) << "entry " << i << " after round " << step;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Specs, MassOfATree,
                         testing::Values(Case{"topk", "topk ratio=0.05", 1, 8, 2, true},
                                         Case{"topk_keeping_more", "topk ratio=0.05", 2.5, 8, 4, true},
                                         Case{"topk_keeping_less", "topk ratio=0.05", 0.3, 9, 3, true},
                                         Case{"uneven", "topk ratio=0.02 | rice", 1, 11, 3, true}, Case{"dense", "dense", 1, 6, 2, true},
                                         Case{"bf16", "dense | bf16", 1, 6, 2, false},
                                         Case{"two_level", "topk ratio=0.05 | two_level | rice", 1, 8, 2, false}),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(MergeNode, KeepsTheLargestOfTheSumAndHoldsTheRest) {
  MergeNode node = node_of("topk ratio=0.5", 1, {{0, 8}}, 8);
  ASSERT_TRUE(node.add(sparse_push(8, {0, 3}, {5, -1})).ok());
  ASSERT_TRUE(node.add(sparse_push(8, {3, 6}, {-3, 2})).ok());
  EXPECT_EQ(decoded(node.take(0), 8), (Vector{5, 0, 0, -4, 0, 0, 0, 0}));
  EXPECT_EQ(Vector(node.residual().begin(), node.residual().end()), (Vector{0, 0, 0, 0, 0, 0, 2, 0}));
  ASSERT_TRUE(node.add(sparse_push(8, {1}, {1})).ok());
  EXPECT_EQ(decoded(node.take(1), 8), (Vector{0, 0, 0, 0, 0, 0, 2, 0})) << "k is this round's";
  EXPECT_FALSE(node.empty());
  EXPECT_EQ(decoded(node.flush(), 8), (Vector{0, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_TRUE(node.empty());
  EXPECT_TRUE(node.take(2).empty());
}

TEST(MergeNode, KeepingAsManyAsThereAreChildrenForwardsEverything) {
  Random random(3);
  MergeNode node = node_of("topk ratio=0.1", 4, {{0, 200}}, 200);
  Vector sum(200, 0.0F);
  for (int child = 0; child < 4; ++child) {
    const auto push = *std::move(*ErrorFeedback::make("topk ratio=0.1", {{0, 200}}, 200)).compress(whole_numbers(random, 200), 0);
    for (const GradientBlock& block : push) ASSERT_TRUE(compress::accumulate(block, sum).ok());
    ASSERT_TRUE(node.add(push).ok());
  }
  EXPECT_EQ(decoded(node.take(0), 200), sum);
  EXPECT_TRUE(node.empty());
}

TEST(MergeNode, WhatTheParentRejectsGoesOutAgain) {
  MergeNode node = node_of("topk ratio=0.5", 1, {{0, 8}}, 8);
  ASSERT_TRUE(node.add(sparse_push(8, {0, 3}, {5, -1})).ok());
  const auto rejected = node.take(0);
  node.restore(rejected);
  EXPECT_EQ(decoded(node.take(1), 8), (Vector{5, 0, 0, -1, 0, 0, 0, 0}));
}

TEST(MergeNode, RefusesWhatItCouldNotHold) {
  MergeNode node = node_of("topk ratio=0.5", 1, {{0, 8}}, 8);
  EXPECT_EQ(node.add(sparse_push(8, {0, 9}, {5, -1})).error().code, Errc::malformed);
  EXPECT_EQ(node.add(sparse_push(8, {0, 3}, {NAN, -1})).error().code, Errc::bad_data);
  EXPECT_EQ(node.add(sparse_push(8, {0, 3}, {3e38F, -1})).error().code, Errc::bad_data);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(node.add(sparse_push(8, {2}, {3e29F})).ok());
  EXPECT_EQ(node.add(sparse_push(8, {2}, {3e29F})).error().code, Errc::bad_data);
  EXPECT_EQ(node.residual()[2], 3 * 3e29F) << "nothing changed";
  EXPECT_EQ(MergeNode::make("topk ratio=0.5", 0, {{0, 8}}, 8).error().code, Errc::bad_config);
  EXPECT_EQ(MergeNode::make("topk ratio=0.5", 1, {{0, 7}}, 8).error().code, Errc::bad_config);
  EXPECT_EQ(MergeNode::make("nothing", 1, {{0, 8}}, 8).error().code, Errc::bad_config);
}

/// gTop-k as published: halves meet, the k largest go on; a worker takes back those of its entries whose index did not reach the root.
class PublishedGTopK {
 public:
  PublishedGTopK(std::size_t workers, std::size_t size, std::size_t k) : k_(k), residuals_(workers, Vector(size, 0.0F)) {}

  Vector round(const std::vector<Vector>& gradients) {
    const std::size_t size = gradients[0].size();
    std::vector<std::map<std::size_t, float>> own, merged;
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      std::map<std::size_t, float> all;
      for (std::size_t j = 0; j < size; ++j) all[j] = residuals_[i][j] + gradients[i][j];
      own.push_back(largest(all));
      for (std::size_t j = 0; j < size; ++j) residuals_[i][j] = own[i].contains(j) ? 0.0F : all[j];
    }
    merged = own;
    for (std::size_t stride = 1; stride < merged.size(); stride *= 2) {
      for (std::size_t i = 0; i + stride < merged.size(); i += 2 * stride) {
        for (const auto& [index, value] : merged[i + stride]) merged[i][index] += value;
        merged[i] = largest(merged[i]);
      }
    }
    for (std::size_t i = 0; i < own.size(); ++i) {
      for (const auto& [index, value] : own[i]) {
        if (!merged[0].contains(index)) residuals_[i][index] += value;
      }
    }
    Vector out(size, 0.0F);
    for (const auto& [index, value] : merged[0]) out[index] = value;
    return out;
  }

  [[nodiscard]] std::vector<double> held() const {
    std::vector<double> sum(residuals_[0].size(), 0.0);
    for (const Vector& residual : residuals_) add_to(sum, residual);
    return sum;
  }

 private:
  [[nodiscard]] std::map<std::size_t, float> largest(const std::map<std::size_t, float>& all) const {
    std::vector<std::pair<std::size_t, float>> sorted(all.begin(), all.end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return std::abs(a.second) > std::abs(b.second); });
    sorted.resize(std::min(sorted.size(), k_));
    return {sorted.begin(), sorted.end()};
  }

  std::size_t k_;
  std::vector<Vector> residuals_;
};

TEST(MergeNode, GTopKsOwnRuleLosesMassAndThisTreeDoesNot) {
  constexpr std::size_t kWorkers = 8, kSize = 400, kKept = 20, kRounds = 50;
  Random random(11);
  PublishedGTopK published(kWorkers, kSize, kKept);
  Tree tree("topk ratio=0.05", 1, {{0, kSize}}, kSize, kWorkers, 2);
  std::vector<double> gradients(kSize, 0.0), applied(kSize, 0.0), applied_here(kSize, 0.0);
  for (std::uint64_t step = 0; step < kRounds; ++step) {
    std::vector<Vector> each;
    for (std::size_t i = 0; i < kWorkers; ++i) {
      each.push_back(whole_numbers(random, kSize));
      add_to(gradients, each.back());
    }
    add_to(applied, published.round(each));
    add_to(applied_here, tree.round(each, step));
  }
  const std::vector<double> held_by_workers = published.held();
  double lost = 0, mass = 0;
  for (std::size_t i = 0; i < kSize; ++i) {
    lost += std::abs(gradients[i] - applied[i] - held_by_workers[i]);
    mass += std::abs(gradients[i]);
  }
  EXPECT_GT(lost / mass, 0.1) << "the leak that merge nodes are there for";
  RecordProperty("published_leak", std::to_string(lost / mass));
  const std::vector<double> held = tree.held();
  for (std::size_t i = 0; i < kSize; ++i) ASSERT_EQ(held[i] + applied_here[i], gradients[i]) << i;
  EXPECT_EQ(tree.entries_at_root, kKept * kRounds) << "and no more entries than gTop-k's";
}

}  // namespace
}  // namespace hourglass::params
