// SPDX-License-Identifier: Apache-2.0
// One simulated run with its faults and its checkers. The same options give the same run, message by message.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "services/simulation/adversary.h"
#include "services/simulation/checks/checks.h"
#include "services/simulation/fault.h"
#include "services/simulation/simulated_cluster.h"

namespace hourglass {

/// People pause the run for a while, by the monitor. Asked for again and again, since whatever carries it may be lost.
class Pause final : public CommandSource {
 public:
  Pause(Duration at, Duration lasts) : at_(at), until_(at + lasts) {}
  /// Before the cluster starts.
  void tell_time(const sim::SimReactor* reactor) { reactor_ = reactor; }
  std::deque<AskedCommand> take_commands() override;
  [[nodiscard]] Duration until() const { return until_; }

 private:
  Duration at_, until_;
  const sim::SimReactor* reactor_ = nullptr;
  std::uint64_t given_ = 0;
  std::optional<Order> asked_;
  Instant asked_at_{};
};

struct TrialOptions {
  SimulatedClusterOptions cluster;
  std::vector<Fault> faults;
  std::optional<Pause> pause;                        ///< where there is a monitor that no fault strikes
  bool loss_falls = true;                            ///< in the end the test loss must be below that of a guess
  Duration heals_within = std::chrono::minutes(20);  ///< of virtual time after the last fault: then the run must have ended
};

struct TrialResult {
  bool finished = false;
  std::vector<std::string> violations;  ///< empty: all is well
  std::uint64_t trace_hash = 0;
  std::uint64_t events = 0;
  double virtual_seconds = 0;
};

class Trial {
 public:
  explicit Trial(TrialOptions options);
  /// Starts the cluster and runs it to its end.
  TrialResult run();
  /// Before run(): looks after each second of virtual time; true ends the trial.
  void set_watch(std::function<bool()> watch) { watch_ = std::move(watch); }

  SimulatedCluster& cluster() { return cluster_; }
  Adversary& adversary() { return adversary_; }
  checks::Checks& checks() { return checks_; }

 private:
  TrialOptions options_;
  SimulatedCluster cluster_;
  checks::Checks checks_;
  Adversary adversary_;
  std::function<bool()> watch_;
};

/// A cluster that the seed draws: 1 to 8 CONV workers, 0 to 3 FC workers, now and then tree nodes, any staleness bound and compression, a
/// bad network, and up to seven faults; the model and the data are tiny.
TrialOptions random_trial(std::uint64_t seed);
/// Its cluster and network as one line.
std::string describe(const SimulatedClusterOptions& cluster);

}  // namespace hourglass
