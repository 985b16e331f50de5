// SPDX-License-Identifier: Apache-2.0
#include "actors/monitor.h"

#include "actors/aggregator/checkpoint.h"
#include "learning/nn/model.h"
#include "services/command.h"
#include "services/dashboard/dashboard.h"
#include "services/dashboard/event_log.h"
#include "services/history/history_writer.h"
#include "services/history/run_shelf.h"
#include "services/hosting/log.h"
#include "services/hosting/ports.h"
#include "services/hosting/role_process.h"
#include "services/hosting/token_file.h"
#include "services/options/setting.h"
#include "services/tensorboard/tensorboard_writer.h"

namespace hourglass {
namespace {

KeyedTexts settings_of(const Job& job) {
  Settings settings;
  settings.job = job;
  KeyedTexts out;
  for (const Setting& row : setting_table()) {
    if (row.scope == Scope::job) out.emplace_back(row.key, row.show(settings));
  }
  return out;
}

/// Null where no run folder is named.
std::unique_ptr<EventLog> log_in(const std::string& folder, Board& board) {
  if (folder.empty()) return nullptr;
  return std::make_unique<EventLog>(folder + "/" + kEventLogFile, board, [](const Error& error) {
    log_line(Severity::warning, "the event log of this run is not written", {{"cause", error.text}});
  });
}

/// Null where no run folder is named, or where it takes no history: then the run is only shown.
std::unique_ptr<HistoryWriter> history_in(const std::string& folder, StateSink* next) {
  if (folder.empty()) return nullptr;
  auto store = HistoryStore::open(folder + "/" + kHistoryFile);
  const auto complain = [](const Error& error) {
    log_line(Severity::warning, "the history of this run is not written", {{"cause", error.text}});
  };
  if (store.ok()) return std::make_unique<HistoryWriter>(std::move(store).value(), next, settings_of, complain);
  complain(store.error());
  return nullptr;
}

/// Null where no folder is named.
std::unique_ptr<TensorboardWriter> events_in(const std::string& folder, StateSink* next) {
  if (folder.empty()) return nullptr;
  return std::make_unique<TensorboardWriter>(folder, own_host_name(), next, [](const Error& error) {
    log_line(Severity::warning, "TensorBoard's event files are not written", {{"setting", "monitor.tensorboard"}, {"cause", error.text}});
  });
}

/// The dashboard library needs none of the mathematics; here all of it is at hand.
ModelSizes sizes_of(const Job& job) {
  const auto model = nn::build_model(job.model, {job.channels, job.height, job.width}, job.classes, job.fc_workers > 0, 1);
  if (!model.ok()) return {};
  ModelSizes out;
  out.conv = model->conv->parameter_count();
  if (!model->fc) return out;
  out.fc = model->fc->parameter_count();
  out.boundary = model->fc->input().size();
  return out;
}

/// Empty where none could be kept: then the page only shows.
std::string token_for(const Settings& settings) {
  if (!settings.monitor_token.empty()) return settings.monitor_token;
  if (settings.run_dir.empty()) {
    const std::string token = new_token();
    log_line(Severity::info, "commands on the dashboard need this token; --monitor-token sets another", {{"token", token}});
    return token;
  }
  auto token = token_of(settings.run_dir);
  if (token.ok()) return *token;
  log_line(Severity::warning, "the dashboard takes no commands", {{"cause", token.error().text}});
  return "";
}

std::optional<CheckpointNote> note_of(std::span<const std::byte> begin) {
  const auto meta = decode_checkpoint_meta(begin);
  if (!meta.ok()) return std::nullopt;
  return CheckpointNote{meta->generation,    meta->seconds,      meta->samples_done,
                        meta->samples_total, meta->conv_version, meta->accuracy.value_or(-1)};
}
static_assert(CheckpointFiles::kBeginBytes >= kCheckpointMetaBytes);

}  // namespace

ExitCode run_monitor(Invocation& invocation) {
  Settings settings = invocation.settings();
  start_role_log(Role::monitor, settings);
  const auto port = static_cast<std::uint16_t>(settings.monitor_port);
  const auto runs = settings.run_dir.empty() ? nullptr : std::make_shared<RunShelf>(settings.run_dir);
  auto dashboard = Dashboard::start({settings.monitor_bind, port, sizes_of, token_for(settings), settings.run_dir, note_of, runs});
  if (!dashboard.ok()) {
    const std::string owner = dashboard.error().code == Errc::io && port != 0 ? port_owner(port) : "";
    log_line(Severity::error, "no dashboard",
             {{"setting", "monitor.port"}, {"port", std::to_string(port)}, {"held_by", owner}, {"cause", dashboard.error().text}});
    return dashboard.error().code == Errc::io ? ExitCode::unavailable : ExitCode::config;
  }
  // The port that people ask for is the page's.
  if (const Status told = write_port_file(settings.port_file, dashboard.value()->port()); !told.ok()) {
    log_line(Severity::error, told.error().text);
    return ExitCode::io;
  }
  settings.port_file.clear();
  log_line(Severity::info, "dashboard",
           {{"url", "http://" + settings.monitor_bind + ":" + std::to_string(dashboard.value()->port()) + "/"}});
  Board& board = dashboard.value()->sink();
  const auto log = log_in(settings.run_dir, board);
  StateSink* page = log ? static_cast<StateSink*>(log.get()) : &board;
  const auto history = history_in(settings.run_dir, page);
  StateSink* stored = history ? history.get() : page;
  const auto events = events_in(settings.tensorboard, stored);
  StateSink* sink = events ? events.get() : stored;
  return run_role(Role::monitor, settings,
                  [&](ProcessIdentity identity) { return make_monitor(sink, &dashboard.value()->commands(), std::move(identity)); });
}

}  // namespace hourglass
