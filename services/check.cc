// SPDX-License-Identifier: Apache-2.0
// hourglass check: what train would refuse, without starting anything. Wrong settings never reach this point: main reports them all.
#include <iostream>

#include "services/command.h"
#include "services/options/validate.h"

namespace hourglass {

ExitCode run_check(Invocation& invocation) {
  const ExitCode code = require_dataset(invocation.resolved);
  for (const auto& problem : invocation.resolved.problems) std::cerr << "hourglass: " << problem.text << '\n';
  for (const auto& warning : invocation.resolved.warnings) std::cerr << "hourglass: warning: " << warning << '\n';
  if (code == ExitCode::ok) {
    const Job& job = invocation.settings().job;
    std::cout << "ok: " << job.model << " on " << job.dataset << ", " << job.conv_workers << " CONV and " << job.fc_workers
              << " FC workers\n";
  }
  return code;
}

}  // namespace hourglass
