// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/node.h"

namespace hourglass::sim {

ActorId SimContext::self() const { return node_.id; }
Instant SimContext::now() const { return Instant(reactor_.now_ - node_.born); }
Random& SimContext::random() { return node_.random; }
Storage& SimContext::storage() { return node_.storage; }
Status SimContext::post(ActorId to, const Parcel& parcel) { return reactor_.post(node_, to, parcel, false); }
bool SimContext::has_room(ActorId to, std::size_t body_bytes) const { return reactor_.has_room(node_.id, to, body_bytes); }
void SimContext::introduce(ActorId peer, const std::string& endpoint) { reactor_.introduce(node_, peer, endpoint); }
void SimContext::forget(ActorId peer) { node_.introduced.erase(peer); }
void SimContext::wake_after(Duration delay, std::uint32_t timer) { reactor_.wake_after(node_, delay, timer); }
SpanRing& SimContext::spans() { return node_.spans; }
void SimContext::count(std::string_view metric, double amount) { node_.metrics.count(metric, amount); }
void SimContext::gauge(std::string_view metric, double value) { node_.metrics.gauge(metric, value); }
const std::map<std::string, double, std::less<>>& SimContext::metrics() const { return node_.metrics.values(); }

void SimContext::log(Severity severity, std::string_view event, Fields fields) {
  if (reactor_.log_) reactor_.log_(node_.id, severity, event, fields);
}

void SimContext::exit(ExitCode code, std::string reason) {
  if (node_.exit) return;
  node_.exit = Exit{code, std::move(reason)};
  reactor_.at(reactor_.now_, [&reactor = reactor_, id = node_.id] {
    if (Node* node = reactor.living(id)) reactor.bury_exited(*node);
  });
}

}  // namespace hourglass::sim
