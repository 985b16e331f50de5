// SPDX-License-Identifier: Apache-2.0
#include "actors/aggregator.h"

#include "actors/tree.h"
#include "runtime/zmq/process_gauges.h"
#include "services/command.h"
#include "services/hosting/folder_lock.h"
#include "services/hosting/log.h"
#include "services/hosting/role_process.h"
#include "services/supervisor/run_folder.h"

namespace hourglass {
namespace {

/// The run folder says which job its model is of; `train` has written that already.
Status keep_job(const Resolved& resolved) {
  const std::string& folder = resolved.settings.run_dir;
  if (folder.empty() || read_text(folder + "/" + kJobFile)) return {};
  return write_text(folder + "/" + kJobFile, print_config(resolved));
}

/// Sockets, files of the run folder and a monitor take so many; each process that connects two more.
constexpr double kOwnFiles = 40, kFilesOfAProcess = 2;

void look_at_file_limit(const Job& job) {
  const double others = 2.0 + job.conv_workers + job.fc_workers + static_cast<double>(Tree::nodes_wanted(job));
  const double needed = kOwnFiles + kFilesOfAProcess * others, most = zmq::open_files_max();
  if (needed <= most) return;
  const auto whole = [](double number) { return std::to_string(static_cast<std::uint64_t>(number)); };
  log_line(Severity::warning, "this job needs about " + whole(needed) + " open files, and the limit is " + whole(most) +
                                  ": not everybody will be able to join; raise it (ulimit -n " + whole(needed) + ") or have fewer workers");
}

}  // namespace

ExitCode run_aggregator(Invocation& invocation) {
  const Settings& settings = invocation.settings();
  start_role_log(Role::aggregator, settings);
  for (const auto& warning : invocation.resolved.warnings) log_line(Severity::warning, warning);
  const std::string& folder = settings.run_dir;
  const auto lock = folder.empty() ? Result<FolderLock>(FolderLock()) : FolderLock::take(folder);
  const Status kept = lock.ok() ? keep_job(invocation.resolved) : Status(lock.error());
  if (!kept.ok()) {
    log_line(Severity::error, kept.error().text);
    return ExitCode::io;
  }
  return run_role(Role::aggregator, settings, [&](ProcessIdentity identity) {
    AggregatorOptions options;
    options.job = settings.job;
    options.run = random_bits();
    options.generation = 1;
    options.recovery = {settings.checkpoint_every, settings.keep_checkpoints, settings.recover != "never"};
    look_at_file_limit(settings.job);  // the reactor has raised the limit to what the system allows
    return make_aggregator(std::move(options), std::move(identity));
  });
}

}  // namespace hourglass
