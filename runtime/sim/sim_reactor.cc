// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/sim_reactor.h"

#include <algorithm>
#include <array>
#include <utility>

#include "messages/heartbeat.h"
#include "runtime/sim/node.h"

namespace hourglass::sim {

/// A message between post() and its handling. Duplicates share it.
struct SimReactor::Flight {
  Envelope envelope;
  ActorId to;
  std::uint64_t sender_life = 0;
  bool heart = false;                        ///< on a connection of its own, which shares the NIC: it waits behind nothing large
  std::shared_ptr<std::size_t> credit_used;  ///< of the connection that it was posted on; null for heartbeats
  std::size_t credit = 0;                    ///< to give back; zero once it was
};

SimReactor::SimReactor(std::uint64_t seed, SimOptions options) : options_(options), root_random_(seed), network_(seed, options) {}
SimReactor::~SimReactor() = default;

void SimReactor::host(ActorId id, std::unique_ptr<Actor> actor) { host(id, std::move(actor), to_string(id)); }

void SimReactor::host(ActorId id, std::unique_ptr<Actor> actor, const std::string& storage_name) {
  HG_CHECK(!live(id), "an actor with this id lives already: " + to_string(id));
  const std::uint64_t life = ++lives_;
  Random random = root_random_.fork("actor " + to_string(id) + " life " + std::to_string(life));
  nodes_[id] = std::make_unique<Node>(*this, id, life, std::move(actor), random, storages_[storage_name]);
  network_.reset_nic(id);
  at(now_, [this, id, life] {
    Node* node = living(id);
    if (!node || node->life != life) return;
    when_free(*node, [](Node& n) { n.actor->start(n.context); });
  });
  if (id.role != Role::aggregator && options_.heartbeat_interval > Duration::zero()) {
    at(now_ + options_.heartbeat_interval, [this, id, life] { beat(id, life); });
  }
}

bool SimReactor::step(Duration patience) {
  const bool due = !events_.empty() && events_.next_at() <= now_ + patience;
  if (due) {
    handle_next_event();
  } else {
    now_ += patience;
  }
  return std::ranges::any_of(nodes_, [](const auto& entry) { return entry.second->actor != nullptr; });
}

void SimReactor::run_for(Duration duration) {
  const Instant end = now_ + duration;
  while (!events_.empty() && events_.next_at() <= end) handle_next_event();
  now_ = end;
}

bool SimReactor::run_until(const std::function<bool()>& predicate, Duration limit) {
  const Instant end = now_ + limit;
  if (predicate()) return true;
  while (!events_.empty() && events_.next_at() <= end) {
    handle_next_event();
    if (predicate()) return true;
  }
  now_ = end;
  return false;
}

void SimReactor::handle_next_event() {
  now_ = std::max(now_, events_.next_at());
  events_.pop()();
  ++events_handled_;
  if (after_event_) after_event_();
}

bool SimReactor::has_room(ActorId from, ActorId to, std::size_t body_bytes) const {
  const auto used = credit_used_.find({from, to});
  if (used == credit_used_.end() || !used->second || *used->second == 0) return true;  // a single message above the credit goes alone
  return *used->second + body_bytes <= options_.credit_bytes;
}

Status SimReactor::post(Node& from, ActorId to, const Parcel& parcel, bool heart) {
  if (!introduced(from, to)) return {Errc::unreachable, "no introduction to " + to_string(to)};
  if (!live(to) && !options_.unreachable_is_silent) return {Errc::unreachable, "no route to " + to_string(to)};
  auto flight = std::make_shared<Flight>();
  flight->to = to;
  flight->sender_life = from.life;
  flight->heart = heart;
  const std::size_t body_bytes = parcel.body->size();
  if (!heart) {
    if (!has_room(from.id, to, body_bytes)) return {Errc::over_limit, "the byte credit towards " + to_string(to) + " is used up"};
    auto& used = credit_used_[{from.id, to}];
    if (!used) used = std::make_shared<std::size_t>(0);
    *used += body_bytes;
    flight->credit_used = used;
    flight->credit = body_bytes;
  }
  auto& sequences = heart ? from.heart_sequences : from.sequences;
  flight->envelope = {parcel.type, parcel.traffic, from.id, sequences[to]++, parcel.body, {}};
  accounting_.count_sent(from.metrics, parcel.traffic, body_bytes);
  launch(flight, heart ? now_ : std::max(now_, from.busy_until));
  return {};
}

std::size_t SimReactor::nic_bytes(const Envelope& envelope) const {
  return options_.evaluation_is_free && envelope.traffic == Traffic::evaluation ? 0 : socket_bytes(envelope.body->size());
}

void SimReactor::launch(const std::shared_ptr<Flight>& flight, Instant ready) {
  const Network::Departure departure = flight->heart ? network_.send_aside(flight->envelope.from, flight->to, ready)
                                                     : network_.send(flight->envelope.from, flight->to, nic_bytes(flight->envelope), ready);
  for (const Instant arrival : departure.arrivals) {
    at(arrival, [this, flight, starts = departure.starts] { arrive(flight, starts); });
  }
  if (departure.arrivals.empty()) at(departure.starts, [this, flight] { release(*flight); });
}

void SimReactor::arrive(const std::shared_ptr<Flight>& flight, Instant starts) {
  const auto crash = crashes_.find(flight->sender_life);
  const bool never_left = crash != crashes_.end() && crash->second < starts;
  if (never_left || network_.blocked(flight->envelope.from, flight->to) || !live(flight->to)) return release(*flight);
  const Instant complete = flight->heart ? now_ : network_.receive(flight->envelope.from, flight->to, nic_bytes(flight->envelope), now_);
  at(complete, [this, flight] {
    Node* node = living(flight->to);
    if (!node) return release(*flight);
    when_free(*node, [this, flight](Node& receiver) {
      handle(receiver, *flight);
      release(*flight);
    });
  });
}

void SimReactor::handle(Node& node, const Flight& flight) {
  const Envelope& envelope = flight.envelope;
  const Delivery delivery{now_, node.id, envelope};
  const std::array<std::uint64_t, 6> row = {
      trace_hash_,
      static_cast<std::uint64_t>(now_.time_since_epoch().count()),
      (std::uint64_t{envelope.from.index} << 8) | static_cast<std::uint64_t>(envelope.from.role),
      (std::uint64_t{node.id.index} << 8) | static_cast<std::uint64_t>(node.id.role),
      (static_cast<std::uint64_t>(envelope.body->size()) << 8) | static_cast<std::uint64_t>(envelope.type),
      envelope.sequence};
  trace_hash_ = fingerprint(std::as_bytes(std::span(row)));
  for (const auto& tap : taps_) tap(delivery);
  const Duration busy = busy_time_ ? busy_time_(delivery) : Duration::zero();
  if (busy > Duration::zero()) {
    node.busy_since = now_;
    node.busy_until = now_ + busy;
  }
  accounting_.count_received(node.metrics, envelope.traffic, envelope.body->size());
  node.actor->receive(node.context, envelope);
}

void SimReactor::release(Flight& flight) {
  if (flight.credit == 0) return;
  *flight.credit_used -= flight.credit;
  flight.credit = 0;
}

void SimReactor::introduce(Node& node, ActorId peer, const std::string& endpoint) {
  std::string& known = node.introduced[peer];
  if (known == endpoint && !endpoint.empty()) return;
  known = endpoint;
  node.metrics.count("connected", 1);
}

void SimReactor::wake_after(Node& node, Duration delay, std::uint32_t timer) {
  const std::uint64_t wake = ++node.wakes_asked;
  node.timers[timer] = wake;
  at(now_ + std::max(delay, Duration::zero()), [this, id = node.id, life = node.life, timer, wake] {
    Node* target = living(id);
    if (!target || target->life != life) return;
    when_free(*target, [timer, wake](Node& n) {
      const auto found = n.timers.find(timer);
      if (found == n.timers.end() || found->second != wake) return;
      n.timers.erase(found);
      n.actor->wake(n.context, timer);
    });
  });
}

void SimReactor::beat(ActorId id, std::uint64_t life) {
  Node* node = living(id);
  if (!node || node->life != life) return;
  if (node->frozen_until <= now_) {
    Heartbeat heartbeat;
    if (node->busy_until > now_) {
      heartbeat.progress_age_ms =
          static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now_ - node->busy_since).count());
    }
    (void)post(*node, kAggregator, pack(heartbeat), true);  // nobody to tell: the next beat tries again
  }
  at(now_ + options_.heartbeat_interval, [this, id, life] { beat(id, life); });
}

void SimReactor::when_free(Node& node, std::function<void(Node&)> action) {
  if (node.waiting.empty() && node.busy_until <= now_) {
    action(node);
    bury_exited(node);
    return;
  }
  node.waiting.push_back(std::move(action));
  if (node.drain_scheduled) return;
  node.drain_scheduled = true;
  at(std::max(now_, node.busy_until), [this, id = node.id, life = node.life] { drain(id, life); });
}

void SimReactor::drain(ActorId id, std::uint64_t life) {
  Node* node = living(id);
  if (!node || node->life != life) return;
  node->drain_scheduled = false;
  if (node->busy_until <= now_ && !node->waiting.empty()) {  // one action for each event, so that checkers look in between
    const auto action = std::move(node->waiting.front());
    node->waiting.pop_front();
    action(*node);
    bury_exited(*node);
  }
  if (!node->actor || node->waiting.empty()) return;
  node->drain_scheduled = true;
  at(std::max(now_, node->busy_until), [this, id, life] { drain(id, life); });
}

void SimReactor::bury_exited(Node& node) {
  if (!node.exit || !node.actor) return;
  node.actor.reset();
  disconnect(node);
}

void SimReactor::disconnect(Node& node) {
  node.waiting.clear();
  std::erase_if(credit_used_, [id = node.id](const auto& entry) { return entry.first.first == id || entry.first.second == id; });
}

bool SimReactor::introduced(const Node& from, ActorId to) const {
  if (!options_.introductions_required || to == kAggregator || from.id == kAggregator || from.introduced.contains(to)) return true;
  const auto peer = nodes_.find(to);
  return peer != nodes_.end() && peer->second->introduced.contains(from.id);
}

}  // namespace hourglass::sim
