// SPDX-License-Identifier: Apache-2.0
// What the commands share that run a whole job on this machine: settings, run folder, supervision, and how failures are told.
#pragma once

#include <optional>
#include <string>

#include "services/command.h"
#include "services/supervisor/train_run.h"

namespace hourglass {

struct LocalRun {
  std::string folder;
  /// The object of --json. Nothing where the run failed: that has been logged and, with --json, written to standard output.
  std::optional<std::string> result;
  ExitCode code = ExitCode::ok;
};

/// `command`: for the log. `onlooker`: may be empty.
LocalRun run_locally(Invocation& invocation, const std::string& command, Onlooker onlooker = {});

}  // namespace hourglass
