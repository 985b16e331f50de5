// SPDX-License-Identifier: Apache-2.0
// All that must hold in a cluster whatever befalls it, looked at as an onlooker can: every message when it is posted and when it is
// handled, and what the run says of itself at its end.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "services/simulation/checks/lease_check.h"
#include "services/simulation/checks/order_check.h"
#include "services/simulation/checks/push_check.h"
#include "services/simulation/checks/violations.h"
#include "services/simulation/simulated_cluster.h"

namespace hourglass::checks {

class Checks {
 public:
  /// Looks from now on; both must live as long as the cluster runs.
  explicit Checks(SimulatedCluster& cluster);

  /// Is it the answer to this member's last Hello?
  [[nodiscard]] bool heeds(ActorId member, const Welcome& welcome) const;

  /// The run is over, or should be: its books must balance. `loss_falls`: the test loss must be below that of a guess.
  void at_end(bool finished, bool loss_falls);
  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_.lines(); }
  [[nodiscard]] const PushCheck& pushes() const { return pushes_; }
  /// For checkers of a test's own.
  Violations& add_to() { return violations_; }

 private:
  void posted(const sim::Delivery& delivery);
  void posted_by_aggregator(const sim::Delivery& delivery);
  void posted_by_worker(const sim::Delivery& delivery);
  void handled(const sim::Delivery& delivery);
  void ledger(const std::string& result);
  /// The disk was never full: a later life of the aggregator knows of all that was decided.
  [[nodiscard]] bool journal_whole() { return cluster_.reactor().storage("aggregator").refused() == 0; }
  template <class M>
  std::optional<M> read(const sim::Delivery& delivery);
  [[nodiscard]] Instant now() { return cluster_.reactor().now(); }

  SimulatedCluster& cluster_;
  std::map<ActorId, std::uint32_t> attempts_;  ///< of each member's last Hello
  Violations violations_;
  OrderCheck order_;
  PushCheck pushes_;
  LeaseCheck leases_;
};

}  // namespace hourglass::checks
