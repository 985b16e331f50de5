// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/network.h"

#include <algorithm>
#include <cmath>

namespace hourglass::sim {
namespace {
constexpr double kLateSecondsMax = 1.0;  ///< of a message that others overtake
}

Network::Network(std::uint64_t seed, const SimOptions& options)
    : random_(Random(seed).fork("network")),
      tail_random_(Random(seed).fork("network tails")),
      default_link_(options.link),
      reorder_(options.reorder),
      default_nic_(options.nic_bytes_per_second) {}

template <class Order>
void Network::arrivals(Departure& departure, const Pair& pair, const Order& in_order) {
  const Link& way = link(pair.first, pair.second);
  // Each message takes the same number of draws whatever becomes of it, so that one changed probability does not shift all the others.
  const bool lost = random_.uniform() < way.loss;
  const bool twice = random_.uniform() < way.duplication;
  const Instant first = in_order(arrival(way, pair, departure.starts));
  const Instant second = std::max(first, in_order(arrival(way, pair, departure.starts))) + late_copy(reorder_ || way.reorder);
  if (lost || blocked(pair.first, pair.second)) return;
  departure.arrivals.push_back(first);
  if (twice) departure.arrivals.push_back(second);
}

Network::Departure Network::send(ActorId from, ActorId to, std::size_t bytes, Instant ready) {
  const Pair pair{from, to};
  Instant& free_at = sending_until_[from];
  Departure departure;
  departure.starts = std::max(ready, free_at);
  free_at = departure.starts + transfer_time(from, bytes);
  const bool reorder = reorder_ || link(from, to).reorder;
  arrivals(departure, pair, [&](Instant at) {
    const auto last = last_arrival_.find(pair);
    return reorder || last == last_arrival_.end() ? at : std::max(at, last->second);
  });
  if (!reorder && !departure.arrivals.empty()) last_arrival_[pair] = departure.arrivals.back();
  return departure;
}

Network::Departure Network::send_aside(ActorId from, ActorId to, Instant ready) {
  Departure departure;
  departure.starts = ready;
  arrivals(departure, {from, to}, [](Instant at) { return at; });
  return departure;
}

Duration Network::late_copy(bool reorder) { return reorder ? from_seconds(random_.uniform() * kLateSecondsMax) : Duration::zero(); }

Instant Network::arrival(const Link& link, const Pair& pair, Instant starts) {
  const auto jitter = Duration(static_cast<Duration::rep>(random_.uniform() * static_cast<double>(link.jitter.count())));
  Instant at = starts + link.latency + jitter;
  if (link.tail > Duration::zero()) at += from_seconds(-std::log(1.0 - tail_random_.uniform()) * seconds(link.tail));
  const auto clogged = clogged_.find(pair);
  if (clogged == clogged_.end() || at >= clogged->second) return at;
  return clogged->second + (reorder_ || link.reorder ? from_seconds(tail_random_.uniform() * kLateSecondsMax) : Duration::zero());
}

Instant Network::receive(ActorId from, ActorId to, std::size_t bytes, Instant first_byte) {
  Instant& free_at = receiving_until_[to];
  const Instant through_own_nic = std::max(first_byte, free_at) + transfer_time(to, bytes);
  free_at = std::max(through_own_nic, first_byte + transfer_time(from, bytes));
  return free_at;
}

void Network::block(ActorId a, ActorId b) {
  block_one_way(a, b);
  block_one_way(b, a);
}

void Network::heal(ActorId a, ActorId b) {
  blocked_.erase({a, b});
  blocked_.erase({b, a});
}

void Network::reset_nic(ActorId actor) {
  sending_until_.erase(actor);
  receiving_until_.erase(actor);
}

const Link& Network::link(ActorId from, ActorId to) const {
  const auto found = links_.find({from, to});
  return found == links_.end() ? default_link_ : found->second;
}

Duration Network::transfer_time(ActorId actor, std::size_t bytes) const {
  const auto found = nic_speeds_.find(actor);
  const double speed = found == nic_speeds_.end() ? default_nic_ : found->second;
  return speed > 0.0 ? from_seconds(static_cast<double>(bytes) / speed) : Duration::zero();
}

}  // namespace hourglass::sim
