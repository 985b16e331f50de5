// SPDX-License-Identifier: Apache-2.0
// Who hangs under whom in the conv group's tree: computed alike by everybody from the job and a roster.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "messages/job.h"
#include "messages/roster.h"

namespace hourglass {

/// In a tree several parents count a member's pushes: clocks of different memberships lie so far apart that nobody mixes them up.
constexpr std::uint64_t first_clock_of(std::uint64_t membership) { return membership << 32; }
constexpr std::uint64_t membership_of(std::uint64_t clock) { return clock >> 32; }

/// Levels of tree nodes stand between the workers and the aggregator, each node with at most `arity` children, and so the aggregator.
/// A place in the tree is a member's small number: nodes are numbered from the top level down, worker w hangs under the (w / arity)-th node
/// of the lowest level, and workers beyond those that the job began with are dealt round. Whoever's parent is missing hangs under the
/// nearest ancestor that is there; a newcomer with the missing number gets its children back. Nobody else moves.
class Tree {
 public:
  /// Of `job.tree_arity` 0, everybody's parent is the aggregator.
  Tree(const Job& job, const std::vector<Member>& members);

  /// Tree nodes that the job wants: about (P - 1) / (arity - 1) - 1; none for a star, or where all workers fit under the aggregator.
  static std::size_t nodes_wanted(const Job& job) {
    std::size_t nodes = 0;
    const std::size_t arity = job.tree_arity;
    for (std::size_t width = job.conv_workers; arity >= 2 && width > arity; nodes += width) width = (width + arity - 1) / arity;
    return nodes;
  }

  /// The aggregator for whoever is unknown.
  [[nodiscard]] ActorId parent(ActorId id) const;
  [[nodiscard]] bool is_child(ActorId id, ActorId parent) const;
  /// Workers in the subtree; 1 for a worker.
  [[nodiscard]] std::size_t workers_below(ActorId id) const;

 private:
  struct Place {
    ActorId parent = kAggregator;
    std::size_t workers = 0;
  };
  std::map<ActorId, Place> places_;
};

}  // namespace hourglass
