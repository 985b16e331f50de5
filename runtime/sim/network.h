// SPDX-License-Identifier: Apache-2.0
// The network of the simulator. A message occupies the sender's NIC for size / bandwidth, travels for latency + jitter, and occupies the
// receiver's NIC (cut-through: it may be received while it is still being sent). Each NIC serves one message at a time, in order.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/random.h"
#include "base/time.h"
#include "runtime/sim/sim_options.h"

namespace hourglass::sim {

class Network {
 public:
  using Pair = std::pair<ActorId, ActorId>;  ///< sender, receiver

  Network(std::uint64_t seed, const SimOptions& options);

  /// A message's way out of its sender.
  struct Departure {
    Instant starts;                 ///< when its first byte leaves
    std::vector<Instant> arrivals;  ///< of its first byte at the receiver; none: lost, two: duplicated
  };
  Departure send(ActorId from, ActorId to, std::size_t bytes, Instant ready);
  /// On a connection of its own: a message of a few bytes, which shares the NIC with what goes on others and does not wait for it.
  Departure send_aside(ActorId from, ActorId to, Instant ready);
  /// When the last byte of a message whose first byte arrives now has been received; occupies the receiver's NIC until then.
  Instant receive(ActorId from, ActorId to, std::size_t bytes, Instant first_byte);

  void set_link(ActorId from, ActorId to, const Link& link) { links_[{from, to}] = link; }
  void set_default_link(const Link& link) { default_link_ = link; }
  void set_nic(ActorId actor, double bytes_per_second) { nic_speeds_[actor] = bytes_per_second; }
  /// Cuts both directions; what is under way is lost too.
  void block(ActorId a, ActorId b);
  void block_one_way(ActorId from, ActorId to) { blocked_.insert({from, to}); }
  void heal(ActorId a, ActorId b);
  void heal_all() { blocked_.clear(); }
  [[nodiscard]] bool blocked(ActorId from, ActorId to) const { return blocked_.contains({from, to}); }
  /// A process that starts anew finds its NIC idle.
  void reset_nic(ActorId actor);

 private:
  [[nodiscard]] const Link& link(ActorId from, ActorId to) const;
  [[nodiscard]] Duration transfer_time(ActorId actor, std::size_t bytes) const;
  Duration late_copy();
  template <class Order>
  void arrivals(Departure& departure, const Pair& pair, const Order& in_order);
  [[nodiscard]] Instant arrival(const Link& link, Instant starts);

  Random random_;
  Link default_link_;
  bool reorder_;
  double default_nic_;
  std::map<Pair, Link> links_;
  std::map<ActorId, double> nic_speeds_;
  std::set<Pair> blocked_;
  std::map<ActorId, Instant> sending_until_, receiving_until_;
  std::map<Pair, Instant> last_arrival_;
};

}  // namespace hourglass::sim
