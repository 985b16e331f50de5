// SPDX-License-Identifier: Apache-2.0
// hourglass train: one run on this machine.
#include <iostream>

#include "services/command.h"
#include "services/supervisor/local_run.h"

namespace hourglass {

ExitCode run_train(Invocation& invocation) {
  const LocalRun run = run_locally(invocation, "train");
  if (run.result && invocation.json) std::cout << *run.result << std::endl;
  return run.code;
}

}  // namespace hourglass
