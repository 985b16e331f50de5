// SPDX-License-Identifier: Apache-2.0
// What scenarios do to the cluster and ask of it.
#include <algorithm>

#include "runtime/sim/node.h"
#include "runtime/sim/sim_reactor.h"

namespace hourglass::sim {

void SimReactor::crash(ActorId id) {
  Node* node = living(id);
  if (!node) return;
  crashes_[node->life] = now_;
  node->actor.reset();
  disconnect(*node);
}

void SimReactor::terminate(ActorId id) {
  Node* node = living(id);
  if (!node) return;
  if (node->stopping) {
    node->exit = Exit{ExitCode::temporary, "stopped before it had drained"};
    bury_exited(*node);
    return;
  }
  node->stopping = true;
  at(now_, [this, id, life = node->life] {
    Node* target = living(id);
    if (target && target->life == life) when_free(*target, [](Node& n) { n.actor->stop(n.context); });
  });
}

void SimReactor::hang(ActorId id, Duration duration) {
  Node* node = living(id);
  if (!node) return;
  if (node->busy_until <= now_) node->busy_since = now_;
  node->busy_until = std::max(node->busy_until, now_ + duration);
}

void SimReactor::freeze(ActorId id, Duration duration) {
  hang(id, duration);
  if (Node* node = living(id)) node->frozen_until = std::max(node->frozen_until, now_ + duration);
}

Node* SimReactor::living(ActorId id) {
  const auto found = nodes_.find(id);
  return found != nodes_.end() && found->second->actor ? found->second.get() : nullptr;
}

bool SimReactor::live(ActorId id) const {
  const auto found = nodes_.find(id);
  return found != nodes_.end() && found->second->actor;
}

std::vector<ActorId> SimReactor::live_actors() const {
  std::vector<ActorId> out;
  for (const auto& [id, node] : nodes_) {
    if (node->actor) out.push_back(id);
  }
  return out;
}

const Exit* SimReactor::exit_of(ActorId id) const {
  const auto found = nodes_.find(id);
  return found != nodes_.end() && found->second->exit ? &*found->second->exit : nullptr;
}

const Metrics& SimReactor::metrics_of(ActorId id) const {
  static const Metrics kNone;
  const auto found = nodes_.find(id);
  return found == nodes_.end() ? kNone : found->second->metrics;
}

Context& SimReactor::context_of(ActorId id) {
  Node* node = living(id);
  HG_CHECK(node != nullptr, "no living actor " + to_string(id));
  return node->context;
}

}  // namespace hourglass::sim
