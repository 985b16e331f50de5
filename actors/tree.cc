// SPDX-License-Identifier: Apache-2.0
#include "actors/tree.h"

#include <algorithm>
#include <optional>

namespace hourglass {
namespace {

/// Widths of the levels of nodes, from the top.
std::vector<std::size_t> widths_of(const Job& job) {
  std::vector<std::size_t> widths;
  if (job.tree_arity < 2) return widths;
  const std::size_t arity = job.tree_arity;
  for (std::size_t width = job.conv_workers; width > arity;) {
    width = (width + arity - 1) / arity;
    widths.push_back(width);
  }
  std::reverse(widths.begin(), widths.end());
  return widths;
}

}  // namespace

Tree::Tree(const Job& job, const std::vector<Member>& members) {
  const std::vector<std::size_t> widths = widths_of(job);
  std::vector<std::optional<std::size_t>> parents;  // of each node's number; empty: the aggregator
  std::size_t level_begin = 0;
  for (std::size_t level = 0; level < widths.size(); ++level) {
    const std::size_t above = level == 0 ? 0 : level_begin - widths[level - 1];
    for (std::size_t i = 0; i < widths[level]; ++i) {
      parents.push_back(level == 0 ? std::nullopt : std::optional<std::size_t>(above + i / job.tree_arity));
    }
    level_begin += widths[level];
  }
  std::map<std::size_t, ActorId> nodes;  // by number
  for (const Member& member : members) {
    if (member.id.role == Role::tree_node) nodes[member.number] = member.id;
  }
  const auto nearest = [&](std::optional<std::size_t> number) {
    while (number && !nodes.contains(*number)) number = *number < parents.size() ? parents[*number] : std::nullopt;
    return number ? nodes.at(*number) : kAggregator;
  };
  for (const Member& member : members) {
    if (member.id.role == Role::tree_node) {
      places_[member.id].parent = member.number < parents.size() ? nearest(parents[member.number]) : kAggregator;
    } else if (member.id.role == Role::conv_worker) {
      std::optional<std::size_t> leaf;
      if (!widths.empty()) {
        const std::size_t width = widths.back();
        leaf = parents.size() - width + (member.number < job.conv_workers ? member.number / job.tree_arity : member.number % width);
      }
      places_[member.id].parent = nearest(leaf);
    }
  }
  for (const Member& member : members) {
    if (member.id.role != Role::conv_worker) continue;
    for (ActorId id = member.id; id != kAggregator; id = places_.at(id).parent) ++places_.at(id).workers;
  }
}

ActorId Tree::parent(ActorId id) const {
  const auto place = places_.find(id);
  return place == places_.end() ? kAggregator : place->second.parent;
}

bool Tree::is_child(ActorId id, ActorId parent) const {
  const auto place = places_.find(id);
  return place != places_.end() && place->second.parent == parent;
}

std::size_t Tree::workers_below(ActorId id) const {
  const auto place = places_.find(id);
  return place == places_.end() ? 0 : place->second.workers;
}

}  // namespace hourglass
