// SPDX-License-Identifier: Apache-2.0
// hourglass simulate under faults: one seed or many, every rule checked after each event.
#include <iostream>

#include "services/command.h"
#include "services/hosting/log.h"
#include "services/hosting/stop_signals.h"
#include "services/hosting/text_file.h"
#include "services/simulation/settings_cluster.h"
#include "services/simulation/trace.h"
#include "services/simulation/trial.h"
#include "services/supervisor/run_report.h"

namespace hourglass {
namespace {

constexpr Duration kFaultsWithin = std::chrono::seconds(20);  ///< of virtual time: for random ones
constexpr std::uint64_t kRandomFaultsMax = 8;

/// Settings that name the seeds, and those of the process, say nothing about a run.
bool part_of_replay(const Setting& setting) {
  for (const std::string_view other :
       {"run.seed", "run.dir", "simulate.seeds", "simulate.first_seed", "simulate.trace", "simulate.compare"}) {
    if (setting.key == other) return false;
  }
  return setting.section() != "log" && setting.section() != "monitor" && setting.section() != "process";
}

std::string quoted(std::string value) {
  if (value.size() >= 2 && value.front() == '"') value = value.substr(1, value.size() - 2);
  const bool plain = !value.empty() && value.find_first_of(" |*?$'\"\\") == std::string::npos;
  return plain ? value : "'" + value + "'";
}

/// The command that makes this one run again.
std::string replay(const Invocation& invocation, std::uint64_t seed) {
  std::string out = "hourglass simulate";
  if (!invocation.job_file.empty()) out += " " + quoted(invocation.job_file);
  for (const Setting& setting : setting_table()) {
    const std::string& origin = invocation.resolved.origin(setting.key);
    if (!part_of_replay(setting) || setting.key == "simulate.faults") continue;
    if (origin.starts_with("flag ") || origin.starts_with("environment ")) {
      out += " " + std::string(setting.flag) + " " + quoted(setting.show(invocation.settings()));
    }
  }
  const SimulationSettings& given = invocation.settings().simulation;
  if (!given.random_cluster) out += " --faults " + quoted(given.faults.empty() ? "random" : given.faults);
  return out + " --seed " + std::to_string(seed);
}

class Trials {
 public:
  explicit Trials(const Invocation& invocation) : invocation_(invocation), settings_(invocation.settings()) {}

  ExitCode run() {
    const SimulationSettings& given = settings_.simulation;
    const std::uint64_t first = given.first_seed > 0 ? given.first_seed : settings_.job.seed;
    const std::uint64_t count = std::max<std::uint64_t>(1, given.seeds);
    if (count > 1 && (!given.trace.empty() || !given.compare.empty())) {
      return fail(ExitCode::usage, "flag --trace, --compare: they are for one seed; leave out --seeds");
    }
    if (Status read = read_script(); !read.ok()) {
      return fail(read.error().code == Errc::io ? ExitCode::missing_data : ExitCode::config, read.error().text);
    }
    std::uint64_t events = 0;
    for (std::uint64_t seed = first; seed < first + count && stop_count == 0; ++seed) {
      const ExitCode code = run_one(seed, count == 1, events);
      if (code != ExitCode::ok) return code;
      ++made_;
    }
    const std::string failed = failed_.empty() ? "no rule was broken" : std::to_string(failed_.size()) + " broke a rule";
    log_line(failed_.empty() ? Severity::info : Severity::error,
             std::to_string(made_) + " runs, " + std::to_string(events) + " events: " + failed);
    if (invocation_.json) print_json(events);
    return failed_.empty() ? ExitCode::ok : ExitCode::failure;
  }

 private:
  ExitCode fail(ExitCode code, const std::string& reason) {
    log_line(Severity::error, reason);
    if (invocation_.json) std::cout << compose_failure("", reason) << std::endl;
    return code;
  }

  Status read_script() {
    const std::string& name = settings_.simulation.faults;
    if (name.empty() || name == "random") return {};
    const auto text = read_text(name, 16U << 20);
    if (!text) return {Errc::io, "flag --faults: cannot read " + name + "; it is a fault script, or the word random"};
    auto parsed = parse_faults(*text, name);
    if (!parsed.ok()) return parsed.error();
    script_ = std::move(*parsed);
    return {};
  }

  [[nodiscard]] TrialOptions options(std::uint64_t seed) const {
    if (settings_.simulation.random_cluster) return random_trial(seed);
    TrialOptions out;
    out.cluster = simulated_cluster_of(settings_);
    out.cluster.seed = out.cluster.job.seed = seed;
    out.loss_falls = false;  // who knows what this job can learn
    const bool random = settings_.simulation.faults == "random" || (settings_.simulation.faults.empty() && settings_.simulation.seeds > 0);
    out.faults = script_;
    if (random) {
      Random draws = Random(seed).fork("faults");
      out.faults = random_faults(out.cluster.job, 1 + draws.below(kRandomFaultsMax), kFaultsWithin, true, draws);
    }
    return out;
  }

  ExitCode run_one(std::uint64_t seed, bool alone, std::uint64_t& events) {
    const TrialOptions wanted = options(seed);
    Trial trial(wanted);
    Trace trace;
    if (Status opened = trace.open(settings_.simulation.trace, settings_.simulation.compare); !opened.ok()) {
      return fail(ExitCode::io, opened.error().text);
    }
    trace.follow(trial);
    trial.set_watch([&] { return stop_count > 0 || trace.differs(); });
    if (alone) {
      log_line(Severity::info, "seed " + std::to_string(seed) + ": " + describe(wanted.cluster));
      if (!wanted.faults.empty()) log_line(Severity::info, "faults:\n" + print_faults(wanted.faults));
      trial.cluster().reactor().set_log([](ActorId id, Severity severity, std::string_view event, const Fields& fields) {
        if (severity >= Severity::warning) log_line(severity, to_string(id) + ": " + std::string(event), fields);
      });
    }
    const TrialResult result = trial.run();
    events += result.events;
    if (const Status closed = trace.close(); !closed.ok()) {
      return fail(closed.error().code == Errc::io ? ExitCode::io : ExitCode::failure, closed.error().text);
    }
    if (alone) {
      log_line(Severity::info, std::string(result.finished ? "finished" : "not finished") + " after " +
                                   std::to_string(result.virtual_seconds) + " virtual seconds, trace hash " + hex(result.trace_hash));
    }
    if (result.violations.empty()) return ExitCode::ok;
    failed_.push_back(seed);
    for (const std::string& line : result.violations) log_line(Severity::error, "seed " + std::to_string(seed) + ": " + line);
    log_line(Severity::error, "seed " + std::to_string(seed) + " again: " + replay(invocation_, seed));
    return ExitCode::ok;
  }

  static std::string hex(std::uint64_t number) {
    char text[20];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
    return text;
  }

  void print_json(std::uint64_t events) const {
    std::string seeds;
    for (const std::uint64_t seed : failed_) seeds += (seeds.empty() ? "" : ",") + std::to_string(seed);
    std::cout << "{\"status\":\"" << (failed_.empty() ? "finished" : "failed") << "\",\"runs\":" << made_ << ",\"events\":" << events
              << ",\"failed_seeds\":[" << seeds << "]}" << std::endl;
  }

  const Invocation& invocation_;
  const Settings& settings_;
  std::vector<Fault> script_;
  std::vector<std::uint64_t> failed_;
  std::uint64_t made_ = 0;
};

}  // namespace

ExitCode run_trials(Invocation& invocation) { return Trials(invocation).run(); }

}  // namespace hourglass
