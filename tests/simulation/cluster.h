// SPDX-License-Identifier: Apache-2.0
// A whole cluster of the real actors in the simulator, with checkers that look after every event.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "services/simulation/simulated_cluster.h"

namespace hourglass::testing_cluster {

/// Small and quick, on the synthetic set.
Job small_job();

struct ClusterOptions {
  Job job = small_job();
  sim::SimOptions network;
  std::uint64_t seed = 1;
  RecoverySettings recovery;
  bool monitor = true;
  CommandSource* commands = nullptr;      ///< of the monitor
  std::optional<std::size_t> tree_nodes;  ///< started at once; empty: as many as the job wants
};

class Cluster {
 public:
  explicit Cluster(ClusterOptions options);

  ActorId add(Role role) { return cluster_.add(role); }
  /// They are numbered in the order of add().
  [[nodiscard]] ActorId id(Role role, std::size_t position) const { return cluster_.ids(role).at(position); }
  /// Runs until the aggregator has left. False when that takes longer than `limit` of virtual time.
  bool finish(Duration limit = std::chrono::minutes(30)) { return cluster_.finish(limit); }
  /// Runs until so many training samples are in applied pushes.
  bool run_until_samples(std::uint64_t samples, Duration limit = std::chrono::minutes(30));
  sim::SimReactor& reactor() { return cluster_.reactor(); }

  nlohmann::json status();  ///< status.json, null before there is one
  nlohmann::json result();  ///< result.json; fails the test where there is none
  /// The saved model's parameters, conv group then fc group.
  std::vector<float> parameters();
  /// What must always hold and did not.
  [[nodiscard]] const std::vector<std::string>& violations() const { return violations_; }

  /// By worker, as its verdicts told.
  [[nodiscard]] const std::map<ActorId, std::uint64_t>& pushes_applied() const { return applied_; }

 private:
  void check(const sim::Delivery& delivery);
  ClusterOptions options_;
  SimulatedCluster cluster_;
  std::vector<std::string> violations_;
  std::uint32_t generation_ = 0;                               ///< newest that the aggregator has spoken in
  std::map<std::pair<ActorId, std::uint64_t>, int> verdicts_;  ///< (worker, clock) -> applied or not, as first told
  std::map<ActorId, std::uint64_t> applied_;
  std::map<ActorId, std::uint64_t> versions_;
};

}  // namespace hourglass::testing_cluster
