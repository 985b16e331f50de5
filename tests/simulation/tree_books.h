// SPDX-License-Identifier: Apache-2.0
// Follows every push of a simulated tree: what went into each parent, what came out, and whether the staleness bound held.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "messages/gradient_push.h"
#include "runtime/sim/sim_reactor.h"

namespace hourglass::testing_cluster {

class TreeBooks {
 public:
  /// Watches until the reactor goes. `size`: parameters of the conv group.
  TreeBooks(sim::SimReactor& reactor, std::size_t size);

  /// Sum of the pushes that a parent has acknowledged as applied, by sender's kind.
  using Vector = std::vector<double>;
  [[nodiscard]] const Vector& of_workers() const { return of_workers_; }
  [[nodiscard]] const Vector& at_root() const { return at_root_; }
  /// What a node took in and has not got rid of.
  [[nodiscard]] Vector held(ActorId node) const;
  /// A node has vanished: what its parent took in meanwhile was taken, though nobody was left to be told.
  void bury(ActorId node);

  struct Link {
    std::uint64_t pushes = 0, push_bytes = 0, push_bytes_max = 0;
    std::uint64_t updates = 0, update_bytes = 0;
  };
  /// Child -> parent; repeats included; without final flushes, and of updates only those that bring deltas.
  [[nodiscard]] const std::map<std::pair<ActorId, ActorId>, Link>& links() const { return links_; }
  /// Widest gap between a worker's push and the slowest worker's, in clocks, of those that have pushed and not flushed.
  [[nodiscard]] std::uint64_t widest_gap() const { return widest_gap_; }
  /// Count gaps until this many pushes of each worker; later ones go idle one by one.
  void watch_gaps(std::uint64_t until, std::size_t workers) { gaps_until_ = until, workers_ = workers; }

 private:
  void see(const sim::Delivery& delivery);
  struct Open {
    GradientPush push;
    ActorId to;
  };
  void book(ActorId from, ActorId taker, const GradientPush& push);
  std::size_t size_;
  Vector of_workers_, at_root_;
  std::map<ActorId, Vector> balance_;                       ///< of nodes
  std::map<std::pair<ActorId, std::uint64_t>, Open> open_;  ///< delivered, not yet settled
  std::map<std::pair<ActorId, ActorId>, Link> links_;
  std::map<ActorId, std::uint64_t> clocks_;
  std::map<ActorId, std::map<ActorId, std::uint64_t>> carried_;  ///< by node: what its pushes contain of its children's
  std::uint64_t widest_gap_ = 0, gaps_until_ = 0;
  std::size_t workers_ = 0;
};

}  // namespace hourglass::testing_cluster
