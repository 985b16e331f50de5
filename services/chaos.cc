// SPDX-License-Identifier: Apache-2.0
// hourglass chaos: one run on this machine, whose processes are killed and stopped at random while it goes on.
#include <algorithm>
#include <iostream>

#include "services/chaos/chaos_report.h"
#include "services/command.h"
#include "services/hosting/log.h"
#include "services/supervisor/local_run.h"

namespace hourglass {
namespace {

constexpr double kLongestStop = 1.5;  ///< in multiples of cluster.dead_after: some are given up, some are not

chaos::NemesisPlan plan_of(const Settings& settings) {
  chaos::NemesisPlan plan;  // each text was accepted as a setting
  plan.seconds = 60 * settings.chaos.minutes;
  plan.pauses = *chaos::parse_pauses(settings.chaos.every);
  plan.roles = *chaos::parse_roles(settings.chaos.roles);
  plan.actions = *chaos::parse_actions(settings.chaos.actions);
  plan.stop_seconds_max = kLongestStop * settings.job.dead_after_seconds;
  plan.seed = settings.job.seed;
  return plan;
}

}  // namespace

ExitCode run_chaos(Invocation& invocation) {
  Settings& settings = invocation.resolved.settings;
  if (settings.log_level != "debug") settings.log_level = "info";  // recoveries are read from the children's logs
  chaos::Tormentor tormentor(plan_of(settings));
  const LocalRun run = run_locally(
      invocation, "chaos",
      [&](const std::vector<ChildView>& children, const StatusReport& status, double now) { tormentor.look(children, status, now); });
  tormentor.close();
  if (!run.result) return run.code;
  const auto checks = chaos::check_run(*run.result, tormentor);
  for (const std::string& line : chaos::describe(tormentor, checks)) log_line(Severity::info, line);
  if (invocation.json) std::cout << chaos::compose_report(*run.result, tormentor, checks) << std::endl;
  const bool passed = std::all_of(checks.begin(), checks.end(), [](const chaos::Check& check) { return check.passed; });
  return passed ? ExitCode::ok : ExitCode::failure;
}

}  // namespace hourglass
