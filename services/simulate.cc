// SPDX-License-Identifier: Apache-2.0
// hourglass simulate: the whole job in one process, on simulated machines and a simulated network; its seconds are virtual.
#include <chrono>
#include <iostream>

#include "services/command.h"
#include "services/hosting/log.h"
#include "services/hosting/stop_signals.h"
#include "services/hosting/text_file.h"
#include "services/options/slow_workers.h"
#include "services/simulation/clock_watch.h"
#include "services/simulation/settings_cluster.h"
#include "services/supervisor/progress.h"
#include "services/supervisor/run_folder.h"
#include "services/supervisor/run_report.h"

namespace hourglass {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Duration kShowEvery = std::chrono::seconds(1);     ///< of virtual time
constexpr Duration kLongest = std::chrono::hours(24 * 365);  ///< of virtual time: no run that goes on takes so long

Duration milliseconds(double count) { return from_seconds(count / 1000); }

ExitCode fail(const Invocation& invocation, const std::string& folder, ExitCode code, const std::string& reason) {
  log_line(Severity::error, reason);
  if (invocation.json) std::cout << compose_failure(folder, reason) << std::endl;
  return code;
}

/// What the aggregator left on its simulated disk.
Status save(SimulatedCluster& cluster, const Resolved& resolved, const std::string& folder) {
  for (const char* name : {kStatusFile, kResultFile, kModelFile}) {
    if (Status saved = write_text(folder + "/" + name, cluster.file(name)); !saved.ok()) return saved;
  }
  return write_text(folder + "/" + kJobFile, print_config(resolved));
}

}  // namespace

SimulatedClusterOptions simulated_cluster_of(const Settings& settings) {
  const SimulationSettings& given = settings.simulation;
  SimulatedClusterOptions out;
  out.job = settings.job;
  out.seed = settings.job.seed;
  out.data_dir = settings.data_dir;
  out.network.link.latency = milliseconds(given.latency_ms);
  out.network.link.jitter = milliseconds(given.jitter_ms);
  out.network.link.loss = given.loss;
  out.network.nic_bytes_per_second = given.bandwidth_mbit * 1e6 / 8;
  out.network.evaluation_is_free = given.free_evaluation;
  out.compute.conv = milliseconds(given.conv_ms);
  out.compute.fc = milliseconds(given.fc_ms);
  out.compute.evaluation_is_free = given.free_evaluation;
  out.compute.pause = milliseconds(given.pause_ms);
  out.compute.pause_share = given.pause_share;
  for (const SlowWorker& worker : parse_slow_workers(given.slow).value()) out.compute.slow[{worker.role, worker.position}] = worker.times;
  return out;
}

ExitCode run_simulate(Invocation& invocation) {
  catch_stops();
  const Settings& settings = invocation.settings();
  start_log({settings.log_format, settings.log_level, "simulate", ""});
  for (const auto& warning : invocation.resolved.warnings) log_line(Severity::warning, warning);
  const SimulationSettings& wanted = settings.simulation;
  if (wanted.seeds > 0 || wanted.random_cluster || !wanted.faults.empty() || !wanted.trace.empty() || !wanted.compare.empty()) {
    return run_trials(invocation);
  }
  std::string folder;
  if (!settings.run_dir.empty()) {
    const auto made = make_run_folder(settings.run_dir, settings.job.model);
    if (!made.ok()) return fail(invocation, settings.run_dir, ExitCode::io, made.error().text);
    folder = *made;
  }
  SimulatedCluster cluster(simulated_cluster_of(settings));
  const ClockWatch clocks(cluster.reactor());
  std::string last_error;
  cluster.reactor().set_log([&](ActorId id, Severity severity, std::string_view event, const Fields& fields) {
    if (severity < Severity::warning) return;
    log_line(severity, to_string(id) + ": " + std::string(event), fields);
    if (severity == Severity::error) last_error = std::string(event);
  });
  cluster.start();
  Progress progress;
  const auto began = Clock::now();
  while (!cluster.finished() && stop_count < 2) {
    if (cluster.reactor().now().time_since_epoch() > kLongest) break;
    if (stop_count == 1) cluster.reactor().terminate(kAggregator);
    cluster.finish(kShowEvery);
    if (const auto status = parse_status(cluster.file(kStatusFile))) {
      progress.show(*status, std::chrono::duration<double>(Clock::now() - began).count());
    }
  }
  progress.close();
  const std::string result = cluster.file(kResultFile);
  if (result.empty()) {
    return fail(invocation, folder, ExitCode::failure, "the simulated run has no result" + (last_error.empty() ? "" : ": " + last_error));
  }
  if (!folder.empty()) {
    if (const Status saved = save(cluster, invocation.resolved, folder); !saved.ok()) {
      return fail(invocation, folder, ExitCode::io, saved.error().text);
    }
  }
  const auto object = compose_result(result, folder, {{"clock_gap_max", static_cast<double>(clocks.gap_max())}});
  if (!object) return fail(invocation, folder, ExitCode::failure, "the simulated run's result is no JSON object");
  log_line(Severity::info, summary(*object));
  if (invocation.json) std::cout << *object << std::endl;
  return ExitCode::ok;
}

}  // namespace hourglass
