// SPDX-License-Identifier: Apache-2.0
// Makes the faults of a schedule happen in a simulated cluster, and heals them.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "services/simulation/fault.h"
#include "services/simulation/simulated_cluster.h"

namespace hourglass {

class Adversary {
 public:
  /// Schedules everything; the cluster must outlive its events. `seed` decides what the script leaves open.
  Adversary(SimulatedCluster& cluster, std::vector<Fault> faults, std::uint64_t seed);

  /// How many faults of a kind found somebody to befall.
  [[nodiscard]] std::size_t happened(FaultKind kind) const { return happened_.at(static_cast<std::size_t>(kind)); }
  /// How many processes of a role it has ended.
  [[nodiscard]] std::size_t ended(Role role) const { return ended_.at(static_cast<std::size_t>(role)); }
  /// From here on nothing is wrong any more.
  [[nodiscard]] Duration healed_at() const { return healed_at_; }
  /// Hears of each fault, and of its end, as one line.
  void set_log(std::function<void(const std::string&)> log) { log_ = std::move(log); }

 private:
  using Pair = sim::Network::Pair;
  void strike(const Fault& fault);
  void end(const Fault& fault, std::size_t place, ActorId victim);
  void slow(const Fault& fault, ActorId victim);
  void trouble_links(const Fault& fault, ActorId victim);
  void fill_disk(const Fault& fault, std::size_t place);
  [[nodiscard]] std::optional<std::size_t> pick(const Whom& whom);
  [[nodiscard]] std::vector<Pair> links(const Fault& fault, ActorId victim);
  void after(Duration delay, std::function<void()> action);
  void say(const std::string& what);

  SimulatedCluster& cluster_;
  std::vector<Fault> faults_;
  Random random_;
  std::array<std::size_t, kFaultKinds> happened_{};
  std::array<std::size_t, kRoles> ended_{};
  Duration healed_at_{};
  std::map<Pair, Instant> cut_until_, lossy_until_;  ///< faults overlap: the last one heals
  std::map<std::string, Instant> full_until_;
  std::map<ActorId, Instant> slow_until_;
  std::function<void(const std::string&)> log_;
};

}  // namespace hourglass
