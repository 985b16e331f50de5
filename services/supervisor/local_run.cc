// SPDX-License-Identifier: Apache-2.0
#include "services/supervisor/local_run.h"

#include <unistd.h>

#include <iostream>

#include "services/hosting/cpu_quota.h"
#include "services/hosting/log.h"
#include "services/hosting/stop_signals.h"
#include "services/options/validate.h"
#include "services/supervisor/run_folder.h"
#include "services/tensorboard/tensorboard_writer.h"

namespace hourglass {
namespace {

std::string own_executable() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : "/proc/self/exe";
}

/// The machine's processors, shared among the workers.
void share_processors(Settings& settings) {
  if (settings.threads != 0) return;
  const std::uint32_t workers = settings.job.conv_workers + settings.job.fc_workers;
  settings.threads = std::max(1U, usable_processors() / workers);
  settings.job.threads = settings.threads;
}

/// The monitor says it too, in a log of its own that few people read.
void warn_of_events(const Invocation& invocation) {
  const std::string& folder = invocation.settings().tensorboard;
  if (folder.empty()) return;
  const Fields setting = {{"setting", "monitor.tensorboard"}};
  if (!invocation.dashboard) {
    return log_line(Severity::warning, "no TensorBoard event files: the monitor writes them, and --no-dashboard starts none", setting);
  }
  if (const Status status = can_write_events(folder); !status.ok()) {
    log_line(Severity::warning, "no TensorBoard event files: " + status.error().text, setting);
  }
}

LocalRun fail(const Invocation& invocation, const std::string& folder, ExitCode code, const std::string& reason) {
  log_line(Severity::error, reason.substr(0, reason.find('\n')));
  for (std::size_t at = reason.find('\n'); at != std::string::npos;) {
    const std::size_t next = reason.find('\n', at + 1);
    log_line(Severity::error, reason.substr(at + 1, next == std::string::npos ? next : next - at - 1));
    at = next;
  }
  if (invocation.json) std::cout << compose_failure(folder, reason) << std::endl;
  return {folder, std::nullopt, code};
}

}  // namespace

LocalRun run_locally(Invocation& invocation, const std::string& command, Onlooker onlooker) {
  catch_stops();
  Settings& settings = invocation.resolved.settings;
  start_log({settings.log_format, settings.log_level, command, ""});
  if (const ExitCode code = require_dataset(invocation.resolved); code != ExitCode::ok) {
    return fail(invocation, "", code, invocation.resolved.problems.back().text);
  }
  for (const auto& warning : invocation.resolved.warnings) log_line(Severity::warning, warning);
  warn_of_events(invocation);
  share_processors(settings);
  const bool resume = !invocation.resume.empty();
  if (resume) {
    settings.run_dir = invocation.resume;
    settings.recover = "auto";
  }
  const auto folder = resume ? resume_run_folder(invocation.resume) : make_run_folder(settings.run_dir, settings.job.model);
  if (!folder.ok()) {
    if (folder.error().code == Errc::bad_config) invocation.resolved.reject("run.dir", folder.error().text);
    const bool config = folder.error().code == Errc::bad_config;
    return fail(invocation, settings.run_dir, config ? ExitCode::config : ExitCode::io,
                config ? invocation.resolved.problems.back().text : folder.error().text);
  }
  if (const Status written = write_text(*folder + "/" + kJobFile, print_config(invocation.resolved)); !written.ok()) {
    return fail(invocation, *folder, ExitCode::io, written.error().text);
  }
  log_line(Severity::info, (resume ? "going on in run folder: " : "run folder: ") + *folder);
  TrainRun run(invocation.resolved, *folder, own_executable(), invocation.dashboard);
  run.set_onlooker(std::move(onlooker));
  const RunOutcome outcome = run.run(stop_signal, stop_count);
  if (!outcome.reason.empty()) return fail(invocation, *folder, static_cast<ExitCode>(outcome.exit_status()), outcome.reason);
  auto object = compose_result(outcome.result, *folder);
  if (!object) return fail(invocation, *folder, ExitCode::failure, *folder + "/" + kResultFile + " is no JSON object");
  log_line(Severity::info, summary(*object));
  return {*folder, std::move(object), ExitCode::ok};
}

}  // namespace hourglass
