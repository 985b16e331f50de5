// SPDX-License-Identifier: Apache-2.0
// One run on one machine: every role as a child process on loopback, watched and replaced until the aggregator ends.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "runtime/context.h"
#include "services/options/resolve.h"
#include "services/supervisor/child_process.h"
#include "services/supervisor/progress.h"
#include "services/supervisor/run_report.h"

namespace hourglass {

/// Failure policy of the supervisor.
struct SupervisionLimits {
  double quick_death_seconds = 10;  ///< a child that lived shorter died quickly
  unsigned quick_deaths_max = 5;    ///< of one child in a row; then the run is given up
  double restart_first_seconds = 0.2;
  double restart_max_seconds = 5;
  /// Of a child that somebody else ended (an operator, the kernel for want of memory): the fault is not its own, so trying again helps.
  unsigned quick_kills_max = 50;
  double restart_killed_max_seconds = 1;
  double left_early_seconds = 1.5;  ///< before a child that left with code 0 while the run goes on is replaced
  double aggregator_start_seconds = 20;
  double stop_seconds = 10;               ///< for the aggregator to save after a stop
  double farewell_seconds = 5;            ///< for the others to leave after the aggregator; then SIGKILL
  std::size_t log_bytes_max = 32U << 20;  ///< of one child's log
};

struct RunOutcome {
  ExitCode code = ExitCode::ok;
  int interrupted_by = 0;  ///< the signal, where the run was interrupted before its model was saved
  std::string reason;      ///< why it failed; "" where it did not
  std::string result;      ///< text of result.json, "" where there is none
  [[nodiscard]] int exit_status() const { return interrupted_by != 0 ? 128 + interrupted_by : static_cast<int>(code); }
};

/// One child, as an onlooker is shown it.
struct ChildView {
  Role role = Role::monitor;
  std::string name;   ///< "conv-worker-2"
  pid_t process = 0;  ///< 0: there is none at the moment
  bool left = false;  ///< the one before ended with code 0
  std::string log_file;
  std::uint64_t log_begin = 0;  ///< where this process' part of the log begins
};
/// Called at each turn of the supervisor's loop, some 20 times a second. A child that it signals is still there, or not reaped yet. The
/// last argument: seconds of the loop's clock.
using Onlooker = std::function<void(const std::vector<ChildView>& children, const StatusReport& status, double now)>;

class TrainRun {
 public:
  /// `folder` holds job.toml already. `executable`: this program.
  TrainRun(const Resolved& resolved, std::string folder, std::string executable, bool dashboard, SupervisionLimits limits = {});
  void set_onlooker(Onlooker onlooker) { onlooker_ = std::move(onlooker); }
  /// Returns when every child has ended. `stop_signal` is looked at all the time: 0, or the signal that asks to stop; `stop_count`: how
  /// many came.
  RunOutcome run(const volatile int& stop_signal, const volatile int& stop_count);

 private:
  struct Slot {
    Role role = Role::monitor;
    unsigned number = 1;
    std::vector<std::string> arguments;
    std::string log_file;
    std::optional<ChildProcess> child;
    double started = 0;
    std::uint64_t log_begin = 0;  ///< where this child's part of the log begins
    double restart_at = 0;
    unsigned quick_deaths = 0;
    bool left = false;  ///< with code 0, perhaps because the run is over
    [[nodiscard]] std::string name() const;
  };

  Slot make_slot(Role role, unsigned number, std::vector<std::string> extra) const;
  Status launch(Slot& slot);
  Status start_aggregator();
  Status start_others();
  [[nodiscard]] bool heir_goes_on(const Ending& ending) const;
  std::uint16_t pick_monitor_port() const;
  void watch(Slot& slot);
  void bury(Slot& slot, const Ending& ending);
  void fail(ExitCode code, std::string reason);
  void read_status();
  void show_children();
  void bound_logs();
  void stop_everybody();
  RunOutcome conclude(const Ending& ending, int stop_signal);
  [[nodiscard]] std::string tail_of(const Slot& slot) const;

  const Resolved& resolved_;
  std::string folder_, executable_;
  bool dashboard_;
  Onlooker onlooker_;
  SupervisionLimits limits_;
  std::vector<Slot> slots_;  ///< the aggregator first
  std::string aggregator_address_;
  Progress progress_;
  StatusReport status_;
  double status_read_ = 0, logs_bounded_ = 0;
  std::optional<RunOutcome> failed_;
};

}  // namespace hourglass
