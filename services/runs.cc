// SPDX-License-Identifier: Apache-2.0
// hourglass runs list|show|compare|rm: what the histories of run folders say.
#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <map>
#include <sstream>

#include <nlohmann/json.hpp>

#include "services/command.h"
#include "services/history/history_store.h"
#include "services/hosting/folder_lock.h"
#include "services/supervisor/progress.h"
#include "services/supervisor/run_folder.h"

namespace hourglass {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kRuns = "runs";
/// Since its status was written: a dead aggregator is started again by then, or never.
constexpr auto kLively = std::chrono::seconds(10);
constexpr std::size_t kColumnBytesMax = 48;

struct Run {
  explicit Run(std::string where) : folder(std::move(where)) {}

  std::string folder;
  bool has_history = false;
  RunSummary summary;  ///< of the folder's newest run
  KeyedTexts settings;
  std::vector<HistoryRow> evaluations;
};

ExitCode fail(ExitCode code, const std::string& text) {
  std::cerr << "hourglass: " << text << '\n';
  return code;
}

ExitCode fail(const Error& error) { return fail(error.code == Errc::io ? ExitCode::io : ExitCode::bad_data, error.text); }

bool is_run(const fs::path& folder) {
  std::error_code code;
  for (const char* file : {kHistoryFile, kJobFile, kStateFile}) {
    if (fs::is_regular_file(folder / file, code)) return true;
  }
  return false;
}

std::string folder_of(const std::string& run) {
  return is_run(run) || !is_run(fs::path(kRuns) / run) ? run : (fs::path(kRuns) / run).string();
}

Result<Run> read_run(const std::string& folder) {
  Run run(folder);
  const std::string file = (fs::path(folder) / kHistoryFile).string();
  std::error_code code;
  if (!fs::exists(file, code)) return run;
  auto store = HistoryStore::open_existing(file);
  if (!store.ok()) return store.error();
  auto runs = (*store)->runs();
  if (!runs.ok()) return Error{runs.error().code, runs.error().text + ": " + file};
  if (runs->empty()) return run;
  run.has_history = true;
  run.summary = runs->front();
  auto settings = (*store)->settings(run.summary.id);
  if (!settings.ok()) return settings.error();
  auto evaluations = (*store)->evaluations(run.summary.id);
  if (!evaluations.ok()) return evaluations.error();
  run.settings = std::move(*settings);
  run.evaluations = std::move(*evaluations);
  return run;
}

/// Its aggregator lives, or was there a moment ago and is perhaps being started again.
bool goes_on(const std::string& folder) {
  if (FolderLock::held(folder)) return true;
  std::error_code code;
  if (fs::exists(fs::path(folder) / kResultFile, code)) return false;
  const auto status = fs::last_write_time(fs::path(folder) / kStatusFile, code);
  return !code && fs::file_time_type::clock::now() - status < kLively;
}

std::string utc(std::int64_t unix_ms) {
  const std::time_t seconds = unix_ms / 1000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string or_dash(double value, const std::string& text) { return std::isnan(value) ? "-" : text; }

/// What every action shows of a run, in this order.
std::vector<std::pair<std::string, std::string>> figures_of(const Run& run) {
  if (!run.has_history) return {{"phase", goes_on(run.folder) ? "no history yet" : "no history"}};
  const RunSummary& s = run.summary;
  return {{"started", utc(s.started_ms)},
          {"model", s.model},
          {"dataset", s.dataset},
          {"phase", s.phase == "finished" || goes_on(run.folder) ? s.phase : s.phase + " (ended)"},
          {"workers", std::to_string(s.workers)},
          {"seconds", show_short(s.seconds)},
          {"samples", std::to_string(s.samples_done) + " of " + std::to_string(s.samples_total)},
          {"samples/s", s.seconds > 0 ? show_short(static_cast<double>(s.samples_done) / s.seconds) : "-"},
          {"loss", or_dash(s.loss, show_short(s.loss))},
          {"test loss", or_dash(s.test_loss, show_short(s.test_loss))},
          {"accuracy", or_dash(s.accuracy, show_share(s.accuracy))},
          {"sent", show_bytes(s.sent_bytes)},
          {"pushes", std::to_string(s.received) + " = " + std::to_string(s.applied) + " applied + " + std::to_string(s.rejected) +
                         " rejected + " + std::to_string(s.rolled_back) + " rolled back" + (s.balanced ? "" : ": DOES NOT ADD UP")},
          {"generation", std::to_string(s.generation)},
          {"build", s.build},
          {"alarm", s.alarm.empty() ? "none" : s.alarm}};
}

Json object_of(const Run& run, bool whole) {
  Json out = {{"run_dir", run.folder}, {"history", run.has_history}, {"goes_on", goes_on(run.folder)}};
  if (!run.has_history) return out;
  const RunSummary& s = run.summary;
  const auto started = utc(s.started_ms), updated = utc(s.updated_ms);
  out.update(Json{{"id", s.id},
                  {"started", started},
                  {"updated", updated},
                  {"model", s.model},
                  {"dataset", s.dataset},
                  {"phase", s.phase},
                  {"generation", s.generation},
                  {"workers", s.workers},
                  {"seconds", s.seconds},
                  {"samples_done", s.samples_done},
                  {"samples_total", s.samples_total},
                  {"loss", s.loss},
                  {"test_loss", s.test_loss},
                  {"accuracy", s.accuracy},
                  {"sent_bytes", s.sent_bytes},
                  {"build", s.build},
                  {"alarm", s.alarm}});
  out["ledger"] = {
      {"received", s.received}, {"applied", s.applied}, {"rejected", s.rejected}, {"rolled_back", s.rolled_back}, {"balanced", s.balanced}};
  if (!whole) return out;
  out["settings"] = Json::object();
  for (const auto& [key, value] : run.settings) out["settings"][key] = value;
  out["evaluations"] = Json::array();
  for (const HistoryRow& row : run.evaluations) {
    out["evaluations"].push_back(
        {{"seconds", row.seconds}, {"samples", row.samples}, {"bytes", row.bytes}, {"loss", row.loss}, {"accuracy", row.accuracy}});
  }
  return out;
}

void print_json(const Json& json) { std::cout << json.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl; }

/// Columns as wide as their longest cell, yet not wider than kColumnBytesMax. What came over the network must not steer a terminal.
void print_table(std::vector<std::vector<std::string>> rows) {
  std::vector<std::size_t> widths;
  for (auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      for (char& c : row[i]) c = static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
      widths[i] = std::max(widths[i], std::min(row[i].size(), kColumnBytesMax));
    }
  }
  for (const auto& row : rows) {
    std::ostringstream line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i + 1 == row.size())
        line << row[i];
      else
        line << std::left << std::setw(static_cast<int>(widths[i]) + 2) << row[i];
    }
    std::cout << line.str() << '\n';
  }
}

ExitCode list(const std::string& place, bool json) {
  std::error_code code;
  if (!fs::is_directory(place, code)) return fail(ExitCode::missing_data, place + " is no folder: hourglass runs list FOLDER");
  std::vector<Run> runs;
  bool all_read = true;
  for (auto entry = fs::directory_iterator(place, code); !code && entry != fs::directory_iterator(); entry.increment(code)) {
    if (!is_run(entry->path())) continue;
    auto run = read_run(entry->path().string());
    all_read = all_read && run.ok();
    if (!run.ok()) std::cerr << "hourglass: " << entry->path().string() << ": " << run.error().text << '\n';
    runs.push_back(run.ok() ? std::move(*run) : Run(entry->path().string()));
  }
  if (code) return fail(ExitCode::io, place + ": " + code.message());
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) {
    return std::pair(b.summary.started_ms, b.folder) < std::pair(a.summary.started_ms, a.folder);
  });
  if (json) {
    Json out = Json::array();
    for (const Run& run : runs) out.push_back(object_of(run, false));
    print_json(out);
  } else {
    static const std::vector<std::string> kShown = {"started",   "model", "phase",    "workers", "seconds",
                                                    "samples/s", "loss",  "accuracy", "sent"};
    std::vector<std::vector<std::string>> rows = {{"run"}};
    rows[0].insert(rows[0].end(), kShown.begin(), kShown.end());
    for (const Run& run : runs) {
      const auto figures = figures_of(run);
      const std::map<std::string, std::string> by_name(figures.begin(), figures.end());
      auto& row = rows.emplace_back(1, fs::path(run.folder).filename().string());
      for (const std::string& name : kShown) {
        const auto found = by_name.find(name);
        row.push_back(found == by_name.end() ? "-" : found->second);
      }
    }
    print_table(std::move(rows));
  }
  return all_read ? ExitCode::ok : ExitCode::bad_data;
}

void show(const Run& run) {
  std::vector<std::vector<std::string>> rows = {{"run", run.folder}};
  for (const auto& [name, text] : figures_of(run)) rows.push_back({name, text});
  print_table(std::move(rows));
  if (!run.settings.empty()) std::cout << "\nsettings\n";
  rows.clear();
  for (const auto& [key, value] : run.settings) rows.push_back({"  " + key, value});
  print_table(std::move(rows));
  if (run.evaluations.empty()) return;
  std::cout << "\nevaluations\n";
  rows = {{"  seconds", "samples", "sent", "test loss", "accuracy"}};
  for (const HistoryRow& row : run.evaluations) {
    rows.push_back({"  " + show_short(row.seconds), std::to_string(row.samples), show_bytes(static_cast<double>(row.bytes)),
                    show_short(row.loss), show_share(row.accuracy)});
  }
  print_table(std::move(rows));
}

/// Settings that not all runs have alike: key, then each run's value.
std::vector<std::vector<std::string>> differences(const std::vector<Run>& runs) {
  std::map<std::string, std::vector<std::string>> values;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (const auto& [key, value] : runs[i].settings) {
      auto& row = values[key];
      row.resize(runs.size(), "-");
      row[i] = value;
    }
  }
  std::vector<std::vector<std::string>> out;
  for (const auto& [key, row] : values) {
    if (std::all_of(row.begin(), row.end(), [&](const std::string& value) { return value == row.front(); })) continue;
    out.emplace_back(1, key).insert(out.back().end(), row.begin(), row.end());
  }
  return out;
}

void compare(const std::vector<Run>& runs) {
  std::vector<std::vector<std::string>> rows = {{"run"}};
  std::vector<std::string> names;
  std::vector<std::map<std::string, std::string>> figures;
  for (const Run& run : runs) {
    rows[0].push_back(fs::path(run.folder).filename().string());
    const auto list = figures_of(run);
    figures.emplace_back(list.begin(), list.end());
    if (list.size() > names.size()) {
      names.clear();
      for (const auto& figure : list) names.push_back(figure.first);
    }
  }
  for (const std::string& name : names) {
    auto& row = rows.emplace_back(1, name);
    for (const auto& each : figures) row.push_back(each.contains(name) ? each.at(name) : "-");
  }
  const auto settings = differences(runs);
  rows.insert(rows.end(), settings.begin(), settings.end());
  print_table(std::move(rows));
}

ExitCode remove(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    if (goes_on(folder)) return fail(ExitCode::temporary, folder + ": this run goes on; nothing is removed. Stop it first");
  }
  for (const std::string& folder : folders) {
    std::error_code code;
    fs::remove_all(folder, code);
    if (code) return fail(ExitCode::io, folder + ": " + code.message());
  }
  return ExitCode::ok;
}

}  // namespace

ExitCode run_runs(Invocation& invocation) {
  const std::string& action = invocation.action;
  if (action == "list" || action == "ls") {
    if (invocation.runs.size() > 1) return fail(ExitCode::usage, "one folder of runs, please: hourglass runs list [FOLDER]");
    return list(invocation.runs.empty() ? kRuns : invocation.runs.front(), invocation.json);
  }
  if (action != "show" && action != "compare" && action != "rm") {
    return fail(ExitCode::usage, (action.empty() ? "what to do is missing" : "unknown action '" + action + "'") +
                                     std::string(": hourglass runs list|show|compare|rm"));
  }
  const std::size_t least = action == "compare" ? 2 : 1;
  if (invocation.runs.size() < least || (action == "show" && invocation.runs.size() > 1)) {
    return fail(ExitCode::usage, "hourglass runs " + action + " takes " +
                                     (action == "show" ? "one run"
                                      : action == "rm" ? "one run or more"
                                                       : "two runs or more"));
  }
  std::vector<std::string> folders;
  for (const std::string& name : invocation.runs) {
    folders.push_back(folder_of(name));
    if (!is_run(folders.back())) return fail(ExitCode::missing_data, name + ": no such run, here or below " + kRuns + "/");
  }
  if (action == "rm") {
    const ExitCode code = remove(folders);
    if (invocation.json && code == ExitCode::ok) print_json({{"removed", folders}});
    return code;
  }
  std::vector<Run> runs;
  for (const std::string& folder : folders) {
    auto run = read_run(folder);
    if (!run.ok()) return fail(run.error());
    runs.push_back(std::move(*run));
  }
  if (invocation.json) {
    Json out = Json::array();
    for (const Run& run : runs) out.push_back(object_of(run, true));
    print_json(action == "show" ? out.front() : out);
  } else {
    action == "show" ? show(runs.front()) : compare(runs);
  }
  return ExitCode::ok;
}

}  // namespace hourglass
