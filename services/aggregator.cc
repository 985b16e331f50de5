// SPDX-License-Identifier: Apache-2.0
#include "actors/aggregator.h"

#include <filesystem>

#include "services/command.h"
#include "services/hosting/log.h"
#include "services/hosting/role_process.h"
#include "services/supervisor/run_folder.h"

namespace hourglass {
namespace {

/// The run folder says which job its model is of; `train` has written that already.
Status keep_job(const Resolved& resolved) {
  const std::string& folder = resolved.settings.run_dir;
  if (folder.empty() || read_text(folder + "/" + kJobFile)) return {};
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) return {Errc::io, "run folder " + folder + ": " + failure.message()};
  return write_text(folder + "/" + kJobFile, print_config(resolved));
}

}  // namespace

ExitCode run_aggregator(Invocation& invocation) {
  const Settings& settings = invocation.settings();
  start_role_log(Role::aggregator, settings);
  for (const auto& warning : invocation.resolved.warnings) log_line(Severity::warning, warning);
  if (const Status kept = keep_job(invocation.resolved); !kept.ok()) {
    log_line(Severity::error, kept.error().text);
    return ExitCode::io;
  }
  return run_role(Role::aggregator, settings, [&](ProcessIdentity identity) {
    AggregatorOptions options;
    options.job = settings.job;
    options.run = random_bits();
    options.generation = 1;
    options.recovery = {settings.checkpoint_every, settings.keep_checkpoints, settings.recover != "never"};
    return make_aggregator(std::move(options), std::move(identity));
  });
}

}  // namespace hourglass
