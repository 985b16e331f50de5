// SPDX-License-Identifier: Apache-2.0
// A job's whole cluster in one process: the actors that run in production, a virtual clock and a virtual network.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/aggregator/recovery.h"
#include "actors/command_post.h"
#include "actors/samples.h"
#include "messages/job.h"
#include "runtime/sim/sim_reactor.h"

namespace hourglass {

/// How long the simulated machines compute. Everything else takes the time of reading its bytes.
struct ComputeTimes {
  Duration conv = std::chrono::milliseconds(20);  ///< forward and backward of one batch: a third and two thirds
  Duration fc = std::chrono::milliseconds(8);     ///< an FC worker's step on one batch; without a cut it adds to the CONV worker's time
  bool evaluation_is_free = false;
  std::map<std::pair<Role, std::size_t>, double> slow;  ///< the n-th of a role takes so many times as long
  Duration pause{};                                     ///< that a CONV worker stands still
  double pause_share = 0;                               ///< before this share of its training batches, at random
};

struct SimulatedClusterOptions {
  Job job;
  sim::SimOptions network;
  ComputeTimes compute;
  std::uint64_t seed = 1;
  std::uint64_t run = 77;
  RecoverySettings recovery{0, 3, true};  ///< of the aggregator: no checkpoints
  std::string data_dir;
  DatasetSource source;                   ///< empty: the registry's, from `data_dir`
  std::optional<std::size_t> tree_nodes;  ///< instead of as many as the job's tree wants
  bool monitor = true;
  CommandSource* commands = nullptr;  ///< of the monitor
};

class SimulatedCluster {
 public:
  /// Nobody lives yet: see start() and add().
  explicit SimulatedCluster(SimulatedClusterOptions options);

  /// The aggregator, the monitor, a data loader and the job's workers.
  void start();
  /// One more process; its id says how many there were before. The aggregator's storage is "aggregator", another's is named after its id.
  ActorId add(Role role);
  /// A new process in the place of one that has crashed or left, as a supervisor starts one; an id of its own, as every process draws one.
  ActorId restart(Role role, std::size_t place, bool keeps_disk);
  /// The processes of that role in the order of add(), whether they live or not; without those that restart() made.
  [[nodiscard]] const std::vector<ActorId>& ids(Role role) const { return ids_.at(role); }
  /// How many places of that role there are: one for each add().
  [[nodiscard]] std::size_t places(Role role) const { return places_.at(role).size(); }
  /// The newest process in a place.
  [[nodiscard]] ActorId at(Role role, std::size_t place) const { return places_.at(role).at(place).id; }
  [[nodiscard]] const std::string& storage_name(Role role, std::size_t place) const { return places_.at(role).at(place).storage; }

  /// Runs until the aggregator has left. False when that takes longer than `limit` of virtual time.
  bool finish(Duration limit);
  [[nodiscard]] bool finished() const { return reactor_.exit_of(kAggregator) != nullptr; }
  /// A file of the aggregator's run folder; empty where there is none yet.
  [[nodiscard]] std::string file(const std::string& name);
  sim::SimReactor& reactor() { return reactor_; }
  [[nodiscard]] const Job& job() const { return options_.job; }
  [[nodiscard]] const sim::SimOptions& network_options() const { return options_.network; }

 private:
  struct Place {
    ActorId id;
    std::string storage;
  };
  [[nodiscard]] ActorId new_id(Role role);
  void start_process(std::size_t place, ActorId id);

  SimulatedClusterOptions options_;
  sim::SimReactor reactor_;
  std::map<Role, std::vector<ActorId>> ids_;
  std::map<Role, std::vector<Place>> places_;
  std::map<ActorId, double> slow_;
  std::uint32_t next_index_ = 1;
};

}  // namespace hourglass
