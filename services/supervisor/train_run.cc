// SPDX-License-Identifier: Apache-2.0
#include "services/supervisor/train_run.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "actors/tree.h"
#include "services/hosting/log.h"
#include "services/hosting/ports.h"
#include "services/hosting/token_file.h"
#include "services/options/source.h"
#include "services/supervisor/run_folder.h"

namespace hourglass {
namespace {

constexpr std::size_t kTailLines = 8;
constexpr int kMonitorPortsTried = 50;

double now_seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void nap() { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }

/// Children get their settings by job file and flags: what a variable said is in the job file already.
std::vector<std::string> child_environment() {
  std::vector<std::string> out;
  for (auto& variable : process_environment()) {
    const bool ours = variable.compare(0, 10, "HOURGLASS_") == 0 && variable.compare(0, 19, "HOURGLASS_BASELINE=") != 0;
    if (!ours) out.push_back(std::move(variable));
  }
  return out;
}

/// Trying again would end the same way.
bool is_permanent(const Ending& ending) {
  if (ending.by_signal) return false;
  const auto code = static_cast<ExitCode>(ending.number);
  return code == ExitCode::usage || code == ExitCode::config || code == ExitCode::bad_data || code == ExitCode::missing_data ||
         code == ExitCode::protocol;
}

/// Ended by somebody else: by a signal that no process sends itself, or as SIGTERM asked before it was done.
bool was_killed(const Ending& ending) {
  if (!ending.by_signal) return ending.number == static_cast<int>(ExitCode::temporary);
  return ending.number == SIGKILL || ending.number == SIGTERM || ending.number == SIGINT || ending.number == SIGHUP;
}

ExitCode code_of(const Ending& ending) {
  return ending.by_signal || ending.number == 0 ? ExitCode::failure : static_cast<ExitCode>(ending.number);
}

}  // namespace

std::string TrainRun::Slot::name() const { return std::string(name_of(role)) + "-" + std::to_string(number); }

/// An aggregator that was killed, or found a fault of its own, is started again like everybody else, where it leaves something to go on
/// from. What it says with an exit code of its own would come again.
bool TrainRun::heir_goes_on(const Ending& ending) const {
  const bool death = ending.by_signal || ending.number == static_cast<int>(ExitCode::failure);
  return death && resolved_.settings.checkpoint_every > 0 && !aggregator_address_.empty();
}

TrainRun::TrainRun(const Resolved& resolved, std::string folder, std::string executable, bool dashboard, SupervisionLimits limits)
    : resolved_(resolved), folder_(std::move(folder)), executable_(std::move(executable)), dashboard_(dashboard), limits_(limits) {}

TrainRun::Slot TrainRun::make_slot(Role role, unsigned number, std::vector<std::string> extra) const {
  Slot slot;
  slot.role = role;
  slot.number = number;
  slot.log_file = folder_ + "/logs/" + slot.name() + ".log";
  slot.arguments = {std::string(name_of(role)),
                    "--run-dir",
                    folder_,
                    "--name",
                    slot.name(),
                    "--listen",
                    "127.0.0.1:0",
                    "--host",
                    "127.0.0.1",
                    "--health-file",
                    "off",
                    "--log-format",
                    "text",
                    "--log-level",
                    resolved_.settings.log_level};
  if (role != Role::aggregator) slot.arguments.insert(slot.arguments.end(), {"--aggregator", aggregator_address_});
  slot.arguments.insert(slot.arguments.end(), extra.begin(), extra.end());
  return slot;
}

Status TrainRun::launch(Slot& slot) {
  ChildOptions options;
  options.executable = executable_;
  options.arguments = slot.arguments;
  options.environment = child_environment();
  options.log_file = slot.log_file;
  options.death_signal = slot.role == Role::aggregator ? SIGTERM : SIGKILL;  // the aggregator still saves what it has
  slot.log_begin = size_of(slot.log_file);
  auto child = ChildProcess::start(options);
  if (!child.ok()) return child.error();
  slot.child.emplace(std::move(*child));
  slot.started = now_seconds();
  slot.left = false;
  log_line(Severity::debug, "started", {{"child", slot.name()}, {"process", std::to_string(slot.child->id())}});
  return {};
}

Status TrainRun::start_aggregator() {
  const std::string port_file = folder_ + "/aggregator.port";
  unlink(port_file.c_str());
  slots_.push_back(make_slot(Role::aggregator, 1, {"--port-file", port_file, folder_ + "/" + kJobFile}));
  Slot& slot = slots_.back();
  if (const Status launched = launch(slot); !launched.ok()) return launched;
  const double limit = now_seconds() + limits_.aggregator_start_seconds;
  while (now_seconds() < limit) {
    const auto text = read_text(port_file);
    if (text && !text->empty() && text->back() == '\n') {
      aggregator_address_ = "127.0.0.1:" + text->substr(0, text->size() - 1);
      // Should it die, its heir must be found where it was, and goes on with this run.
      *std::find(slot.arguments.begin(), slot.arguments.end(), "127.0.0.1:0") = aggregator_address_;
      slot.arguments.insert(slot.arguments.end() - 1, {"--recover", "auto"});
      return {};
    }
    if (slot.child->poll()) return {};  // watch() tells why
    nap();
  }
  return {Errc::timed_out,
          "the aggregator has not told its port within " + show_seconds(limits_.aggregator_start_seconds) + "; see " + slot.log_file};
}

std::uint16_t TrainRun::pick_monitor_port() const {
  const auto wanted = static_cast<std::uint16_t>(resolved_.settings.monitor_port);
  const std::string& address = resolved_.settings.monitor_bind;
  if (wanted == 0) return 0;
  for (int port = wanted; port < wanted + kMonitorPortsTried && port <= 65535; ++port) {
    const Status free = port_is_free(address, static_cast<std::uint16_t>(port));
    if (free.ok()) return static_cast<std::uint16_t>(port);
    log_line(Severity::warning, free.error().text + "; the dashboard takes the next one", {{"setting", "monitor.port"}});
    if (free.error().code != Errc::unreachable) break;
  }
  return 0;
}

Status TrainRun::start_others() {
  const Settings& settings = resolved_.settings;
  if (dashboard_) {
    const std::string port = std::to_string(pick_monitor_port());
    const std::string port_file = folder_ + "/monitor.port";
    slots_.push_back(
        make_slot(Role::monitor, 1, {"--monitor-port", port, "--monitor-bind", settings.monitor_bind, "--port-file", port_file}));
    if (!settings.tensorboard.empty()) {
      slots_.back().arguments.insert(slots_.back().arguments.end(), {"--tensorboard", settings.tensorboard});
    }
    const auto token = token_of(folder_, settings.monitor_token);
    if (port != "0") {
      // What follows # stays in the browser.
      log_line(Severity::info, "dashboard: http://" + settings.monitor_bind + ":" + port + "/" + (token.ok() ? "#token=" + *token : ""));
    }
  }
  std::vector<std::string> data;
  if (!settings.data_dir.empty()) data = {"--data-dir", settings.data_dir};
  slots_.push_back(make_slot(Role::data_loader, 1, data));
  for (unsigned i = 1; i <= Tree::nodes_wanted(settings.job); ++i) slots_.push_back(make_slot(Role::tree_node, i, {}));
  for (unsigned i = 1; i <= settings.job.fc_workers; ++i) slots_.push_back(make_slot(Role::fc_worker, i, {}));
  for (unsigned i = 1; i <= settings.job.conv_workers; ++i) slots_.push_back(make_slot(Role::conv_worker, i, data));
  for (std::size_t i = 1; i < slots_.size(); ++i) {
    if (const Status launched = launch(slots_[i]); !launched.ok()) return launched;
  }
  return {};
}

std::string TrainRun::tail_of(const Slot& slot) const {
  std::string out;
  for (const auto& line : last_lines(slot.log_file, kTailLines, slot.log_begin)) out += "\n    " + line;
  return out;
}

void TrainRun::fail(ExitCode code, std::string reason) {
  if (failed_) return;
  failed_.emplace();
  failed_->code = code;
  failed_->reason = std::move(reason);
}

void TrainRun::bury(Slot& slot, const Ending& ending) {
  const double now = now_seconds();
  const double lived = now - slot.started;
  slot.child.reset();
  if (ending.clean()) {
    slot.left = true;
    slot.restart_at = now + limits_.left_early_seconds;
    return;
  }
  progress_.close();
  slot.quick_deaths = lived < limits_.quick_death_seconds ? slot.quick_deaths + 1 : 1;
  const bool killed = was_killed(ending);
  const std::string cause = slot.name() + " ended with " + to_string(ending) + " after " + show_seconds(lived);
  if (is_permanent(ending) || slot.quick_deaths >= (killed ? limits_.quick_kills_max : limits_.quick_deaths_max)) {
    const std::string times = slot.quick_deaths > 1 ? ", the " + std::to_string(slot.quick_deaths) + "th time in a row" : "";
    return fail(code_of(ending), cause + times + "; the run is given up; see " + slot.log_file + tail_of(slot));
  }
  const double growing = limits_.restart_first_seconds * static_cast<double>(std::uint64_t{1} << std::min(slot.quick_deaths - 1, 16U));
  const double pause = std::min(killed ? limits_.restart_killed_max_seconds : limits_.restart_max_seconds, growing);
  slot.restart_at = now + pause;
  log_line(Severity::warning, cause + "; it is replaced in " + show_seconds(pause), {{"log", slot.log_file}});
  for (const auto& line : last_lines(slot.log_file, kTailLines, slot.log_begin)) log_line(Severity::warning, "  " + line);
}

void TrainRun::watch(Slot& slot) {
  if (slot.child) {
    if (const auto ending = slot.child->poll()) bury(slot, *ending);
    return;
  }
  if (now_seconds() < slot.restart_at) return;
  const bool over = status_.phase == "finished" || status_.phase == "collecting" || status_.phase == "evaluating";
  if (slot.left && over) return;  // it left because the run is over
  if (slot.left) log_line(Severity::warning, slot.name() + " left while the run goes on; it is replaced", {{"log", slot.log_file}});
  if (const Status launched = launch(slot); !launched.ok()) fail(ExitCode::io, launched.error().text);
}

void TrainRun::read_status() {
  const double now = now_seconds();
  if (now - status_read_ < 0.5) return;
  status_read_ = now;
  const auto text = read_text(folder_ + "/" + kStatusFile);
  if (!text) return;
  if (auto status = parse_status(*text)) {
    status_ = std::move(*status);
    progress_.show(status_, now);
  }
}

void TrainRun::show_children() {
  if (!onlooker_) return;
  std::vector<ChildView> views;
  for (const Slot& slot : slots_) {
    views.push_back({slot.role, slot.name(), slot.child ? slot.child->id() : 0, slot.left, slot.log_file, slot.log_begin});
  }
  onlooker_(views, status_, now_seconds());
}

void TrainRun::bound_logs() {
  const double now = now_seconds();
  if (now - logs_bounded_ < 10) return;
  logs_bounded_ = now;
  for (auto& slot : slots_) {
    bound_log(slot.log_file, limits_.log_bytes_max);
    slot.log_begin = std::min(slot.log_begin, size_of(slot.log_file));
  }
}

/// The aggregator has ended, or must: the others leave by themselves, then by SIGTERM, then by SIGKILL.
void TrainRun::stop_everybody() {
  const double began = now_seconds();
  bool asked = false;
  while (true) {
    bool alive = false;
    for (auto& slot : slots_) alive = (slot.child && !slot.child->poll()) || alive;
    if (!alive) break;
    const double waited = now_seconds() - began;
    if (!asked && (failed_ || waited > limits_.farewell_seconds / 5)) {
      asked = true;
      for (auto& slot : slots_) {
        if (slot.child) slot.child->signal(SIGTERM);
      }
    }
    if (waited > limits_.farewell_seconds) {
      for (auto& slot : slots_) {
        if (slot.child && !slot.child->poll()) {
          log_line(Severity::warning, slot.name() + " does not leave; it is killed", {{"log", slot.log_file}});
          slot.child->signal(SIGKILL);
        }
      }
      nap();
    }
    nap();
  }
}

RunOutcome TrainRun::conclude(const Ending& ending, int stop_signal) {
  RunOutcome out;
  const auto result = read_text(folder_ + "/" + kResultFile);
  const bool saved = result && access((folder_ + "/" + kModelFile).c_str(), R_OK) == 0;
  if (ending.clean() && saved) {
    out.result = *result;
    return out;
  }
  out.code = ending.clean() ? ExitCode::failure : code_of(ending);
  out.reason = ending.clean()
                   ? "the aggregator ended without saving a result"
                   : "the aggregator ended with " + to_string(ending) + "; see " + slots_.front().log_file + tail_of(slots_.front());
  if (stop_signal != 0) {
    out.interrupted_by = stop_signal;
    out.reason = "interrupted before the model was saved: " + out.reason;
  }
  return out;
}

RunOutcome TrainRun::run(const volatile int& stop_signal, const volatile int& stop_count) {
  if (const Status started = start_aggregator(); !started.ok()) fail(ExitCode::unavailable, started.error().text);
  Slot* aggregator = nullptr;
  if (!failed_ && !aggregator_address_.empty()) {
    if (const Status started = start_others(); !started.ok()) fail(ExitCode::io, started.error().text);
  }
  aggregator = &slots_.front();
  std::optional<Ending> ending;
  int forwarded = 0;
  double stop_limit = 0;
  while (!failed_ && !ending) {
    if (aggregator->child) ending = aggregator->child->poll();
    if (ending && (stop_count > 0 || !heir_goes_on(*ending))) break;
    if (ending) {
      bury(*aggregator, *ending);
      ending.reset();
      continue;
    }
    if (!aggregator->child && stop_count == 0) watch(*aggregator);
    if (!aggregator->child && stop_count > 0) {  // it is dead, and nobody waits for its heir
      ending = Ending{true, SIGKILL};
      break;
    }
    if (!aggregator->child) {
      nap();
      continue;
    }
    if (stop_count > forwarded) {
      progress_.close();
      const bool again = forwarded > 0;
      forwarded = stop_count;
      log_line(Severity::info, again ? "asked again to stop: everything is killed" : "asked to stop: the aggregator saves the model");
      aggregator->child->signal(again ? SIGKILL : SIGTERM);
      if (stop_limit == 0) stop_limit = now_seconds() + limits_.stop_seconds;
    }
    if (stop_limit != 0 && now_seconds() > stop_limit) {
      log_line(Severity::error, "the aggregator has not saved within " + show_seconds(limits_.stop_seconds) + "; it is killed");
      aggregator->child->signal(SIGKILL);
      stop_limit = now_seconds() + limits_.stop_seconds;
    }
    for (std::size_t i = 1; i < slots_.size() && stop_limit == 0; ++i) watch(slots_[i]);
    read_status();
    show_children();
    bound_logs();
    nap();
  }
  progress_.close();
  stop_everybody();
  if (failed_) return *failed_;
  return conclude(*ending, stop_signal);
}

}  // namespace hourglass
