// SPDX-License-Identifier: Apache-2.0
#include "actors/tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace hourglass {
namespace {

ActorId worker(std::uint32_t number) { return {Role::conv_worker, 100 + number}; }
ActorId node(std::uint32_t number) { return {Role::tree_node, 500 + number}; }

Job job_of(std::uint32_t workers, std::uint32_t arity) {
  Job job;
  job.conv_workers = workers;
  job.tree_arity = arity;
  return job;
}

std::vector<Member> whole(const Job& job, std::uint32_t more_workers = 0) {
  std::vector<Member> members = {{kAggregator, 0, "", "", true}, {{Role::fc_worker, 9}, 0, "", "", true}};
  for (std::uint32_t i = 0; i < job.conv_workers + more_workers; ++i) members.push_back({worker(i), i, "", "", true});
  for (std::uint32_t i = 0; i < Tree::nodes_wanted(job); ++i) members.push_back({node(i), i, "", "", true});
  return members;
}

void remove(std::vector<Member>& members, ActorId id) {
  std::erase_if(members, [&](const Member& member) { return member.id == id; });
}

TEST(Tree, WithoutAnArityIsAStar) {
  const Job job = job_of(8, 0);
  EXPECT_EQ(Tree::nodes_wanted(job), 0U);
  const Tree tree(job, whole(job));
  for (std::uint32_t i = 0; i < 8; ++i) EXPECT_EQ(tree.parent(worker(i)), kAggregator);
  EXPECT_EQ(tree.workers_below(worker(3)), 1U);
}

TEST(Tree, EightWorkersByTwo) {
  const Job job = job_of(8, 2);
  ASSERT_EQ(Tree::nodes_wanted(job), 6U);
  const Tree tree(job, whole(job));
  EXPECT_EQ(tree.parent(node(0)), kAggregator);
  EXPECT_EQ(tree.parent(node(1)), kAggregator);
  EXPECT_EQ(tree.parent(node(2)), node(0));
  EXPECT_EQ(tree.parent(node(5)), node(1));
  EXPECT_EQ(tree.parent(worker(0)), node(2));
  EXPECT_EQ(tree.parent(worker(7)), node(5));
  EXPECT_EQ(tree.workers_below(node(0)), 4U);
  EXPECT_EQ(tree.workers_below(node(5)), 2U);
  EXPECT_TRUE(tree.is_child(node(3), node(0)));
  EXPECT_FALSE(tree.is_child({Role::fc_worker, 9}, kAggregator));
}

TEST(Tree, NobodyHasMoreChildrenThanTheArityAndTheDepthIsLogarithmic) {
  for (const std::uint32_t arity : {2U, 3U, 4U, 7U}) {
    for (std::uint32_t workers = 1; workers <= 70; ++workers) {
      const Job job = job_of(workers, arity);
      const std::vector<Member> members = whole(job);
      const Tree tree(job, members);
      std::map<ActorId, std::size_t> children;
      for (const Member& member : members) {
        if (member.id.role != Role::conv_worker && member.id.role != Role::tree_node) continue;
        ++children[tree.parent(member.id)];
        std::size_t depth = 1;
        for (ActorId up = tree.parent(member.id); up != kAggregator; up = tree.parent(up)) ++depth;
        ASSERT_LE(depth, std::max(1.0, std::ceil(std::log(workers) / std::log(arity) - 1e-9))) << workers << " by " << arity;
      }
      for (const auto& [parent, count] : children) ASSERT_LE(count, arity) << workers << " by " << arity;
      std::size_t below = 0;
      for (const Member& member : members) below += tree.parent(member.id) == kAggregator ? tree.workers_below(member.id) : 0;
      ASSERT_EQ(below, workers);
    }
  }
}

TEST(Tree, ChildrenOfAMissingNodeHangUnderItsParentAndNobodyElseMoves) {
  const Job job = job_of(8, 2);
  std::vector<Member> members = whole(job);
  const Tree before(job, members);
  remove(members, node(2));
  const Tree without(job, members);
  EXPECT_EQ(without.parent(worker(0)), node(0));
  EXPECT_EQ(without.parent(worker(1)), node(0));
  EXPECT_EQ(without.workers_below(node(0)), 4U);
  for (std::uint32_t i = 2; i < 8; ++i) EXPECT_EQ(without.parent(worker(i)), before.parent(worker(i)));
  remove(members, node(0));
  const Tree fewer(job, members);
  EXPECT_EQ(fewer.parent(worker(0)), kAggregator);
  EXPECT_EQ(fewer.parent(node(3)), kAggregator);
  const ActorId heir{Role::tree_node, 999};
  members.push_back({heir, 2, "", "", true});
  const Tree replaced(job, members);
  EXPECT_EQ(replaced.parent(worker(0)), heir);
  EXPECT_EQ(replaced.parent(heir), kAggregator);
}

TEST(Tree, WorkersBeyondThoseTheJobBeganWithAreDealtRound) {
  const Job job = job_of(8, 2);
  const Tree tree(job, whole(job, 4));
  EXPECT_EQ(tree.parent(worker(8)), node(2));
  EXPECT_EQ(tree.parent(worker(9)), node(3));
  EXPECT_EQ(tree.workers_below(node(0)), 6U);
}

}  // namespace
}  // namespace hourglass
