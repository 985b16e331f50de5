// SPDX-License-Identifier: Apache-2.0
#include "actors/aggregator.h"

#include "services/command.h"
#include "services/hosting/log.h"
#include "services/hosting/role_process.h"

namespace hourglass {

ExitCode run_aggregator(Invocation& invocation) {
  const Settings& settings = invocation.settings();
  start_role_log(Role::aggregator, settings);
  for (const auto& warning : invocation.resolved.warnings) log_line(Severity::warning, warning);
  return run_role(Role::aggregator, settings, [&](ProcessIdentity identity) {
    AggregatorOptions options;
    options.job = settings.job;
    options.run = random_bits();
    return make_aggregator(std::move(options), std::move(identity));
  });
}

}  // namespace hourglass
