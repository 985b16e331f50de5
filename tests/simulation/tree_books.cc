// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/tree_books.h"

#include <algorithm>
#include <iterator>

#include "learning/compress/compressor.h"
#include "messages/all_messages.h"
#include "messages/codec.h"

namespace hourglass::testing_cluster {
namespace {

void add(std::vector<double>& sum, const GradientPush& push, double weight) {
  std::vector<float> values(sum.size(), 0.0F);
  for (const GradientBlock& block : push.blocks) {
    if (compress::accumulate(block, values).ok()) {
      for (std::size_t i = 0; i < values.size(); ++i) sum[i] += weight * values[i];
      std::fill(values.begin(), values.end(), 0.0F);
    }
  }
}

}  // namespace

TreeBooks::TreeBooks(sim::SimReactor& reactor, std::size_t size) : size_(size), of_workers_(size, 0.0), at_root_(size, 0.0) {
  reactor.add_tap([this](const sim::Delivery& delivery) { see(delivery); });
}

TreeBooks::Vector TreeBooks::held(ActorId node) const {
  const auto found = balance_.find(node);
  return found == balance_.end() ? Vector(size_, 0.0) : found->second;
}

void TreeBooks::book(ActorId from, ActorId taker, const GradientPush& push) {
  if (from.role == Role::conv_worker) add(of_workers_, push, 1);
  if (from.role == Role::tree_node) add(balance_.try_emplace(from, size_, 0.0).first->second, push, -1);
  if (taker == kAggregator) {
    add(at_root_, push, 1);
  } else {
    add(balance_.try_emplace(taker, size_, 0.0).first->second, push, 1);
  }
}

void TreeBooks::bury(ActorId node) {
  for (auto open = open_.begin(); open != open_.end();) {
    const bool its = open->first.first == node;
    if (its) book(node, open->second.to, open->second.push);
    open = its ? open_.erase(open) : std::next(open);
  }
}

void TreeBooks::see(const sim::Delivery& delivery) {
  const Envelope& envelope = delivery.envelope;
  if (envelope.type == MessageType::gradient_push) {
    auto push = decode<GradientPush>(*envelope.body);
    if (!push.ok() || push->group != Group::conv) return;
    if (!push->flush) {
      Link& link = links_[{envelope.from, delivery.to}];
      ++link.pushes;
      link.push_bytes += envelope.body->size();
      link.push_bytes_max = std::max<std::uint64_t>(link.push_bytes_max, envelope.body->size());
    }
    if (envelope.from.role == Role::conv_worker && push->clock < gaps_until_) {
      clocks_[envelope.from] = std::max(clocks_[envelope.from], push->clock + 1);
      std::uint64_t slowest = clocks_.size() < workers_ ? 0 : push->clock;
      for (const auto& [id, clock] : clocks_) slowest = std::min(slowest, clock);
      widest_gap_ = std::max(widest_gap_, push->clock - slowest);
    }
    for (const Carried& child : push->carried) carried_[envelope.from][child.id] = child.clock;
    const std::uint64_t clock = push->clock;
    open_.try_emplace({envelope.from, clock}, Open{std::move(*push), delivery.to});
  } else if (envelope.type == MessageType::push_verdict) {
    const auto verdict = decode<PushVerdict>(*envelope.body);
    if (!verdict.ok() || verdict->group != Group::conv) return;
    const auto open = open_.find({delivery.to, verdict->clock});
    if (open == open_.end()) return;  // a repeat
    if (verdict->verdict == Verdict::applied) {
      ActorId taker = envelope.from;  // or the node that had taken it, but whose word was lost
      for (const auto& [node, children] : carried_) {
        const auto child = children.find(delivery.to);
        if (child != children.end() && verdict->clock < child->second) taker = node;
      }
      book(delivery.to, taker, open->second.push);
    }
    open_.erase(open);
  } else if (envelope.type == MessageType::parameter_update && envelope.traffic == Traffic::update_conv) {
    const auto update = decode<ParameterUpdate>(*envelope.body);
    if (!update.ok() || update->absolute || update->deltas.empty()) return;
    Link& link = links_[{delivery.to, envelope.from}];
    ++link.updates;
    link.update_bytes += envelope.body->size();
  }
}

}  // namespace hourglass::testing_cluster
