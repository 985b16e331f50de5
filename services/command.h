// SPDX-License-Identifier: Apache-2.0
// The sub-commands of `hourglass`: one row and one file each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "services/options/resolve.h"

namespace hourglass {

/// What a command accepts on its command line beyond the settings of each process.
enum Takes : unsigned {
  kTakesProcess = 1,      ///< settings of Scope::process and --set
  kTakesJob = 2,          ///< settings of Scope::job and a job file
  kTakesJson = 4,         ///< --json
  kTakesDashboard = 8,    ///< --no-dashboard
  kTakesFrom = 16,        ///< --from
  kTakesSimulation = 32,  ///< settings of Scope::simulation
  kTakesChaos = 64,       ///< settings of Scope::chaos
  kTakesResume = 128,     ///< --resume
  kTakesAction = 256,     ///< what to do, and with which run folder or file
  kTakesAddress = 512,    ///< of a monitor; --once
  kTakesRuns = 1024,      ///< what to do, and with which runs
};

struct Invocation {
  Resolved resolved;
  std::string job_file;  ///< "" where there is none
  std::string from;      ///< of --from
  std::string resume;    ///< of --resume: the run folder
  std::string action, place;
  std::vector<std::string> runs;  ///< of `runs`: folders or names
  bool json = false;
  bool once = false;
  bool dashboard = true;
  [[nodiscard]] const Settings& settings() const { return resolved.settings; }
};

struct Command {
  std::string_view name;
  std::string_view summary;
  std::string_view examples;  ///< lines of --help
  unsigned takes = 0;
  ExitCode (*run)(Invocation& invocation) = nullptr;
};

const std::vector<Command>& commands();

ExitCode run_train(Invocation& invocation);
ExitCode run_chaos(Invocation& invocation);
ExitCode run_data_loader(Invocation& invocation);
ExitCode run_conv_worker(Invocation& invocation);
ExitCode run_fc_worker(Invocation& invocation);
ExitCode run_tree_node(Invocation& invocation);
ExitCode run_aggregator(Invocation& invocation);
ExitCode run_monitor(Invocation& invocation);
ExitCode run_top(Invocation& invocation);
ExitCode run_solo(Invocation& invocation);
ExitCode run_simulate(Invocation& invocation);
ExitCode run_trials(Invocation& invocation);  ///< of simulate: with faults, or of many seeds
ExitCode run_evaluate(Invocation& invocation);
ExitCode run_checkpoint(Invocation& invocation);
ExitCode run_runs(Invocation& invocation);
ExitCode run_check(Invocation& invocation);
ExitCode run_healthcheck(Invocation& invocation);
ExitCode run_models(Invocation& invocation);
ExitCode run_datasets(Invocation& invocation);
ExitCode run_policies(Invocation& invocation);
ExitCode run_compressors(Invocation& invocation);

}  // namespace hourglass
