// SPDX-License-Identifier: Apache-2.0
#include "services/history/run_shelf.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include <nlohmann/json.hpp>

namespace hourglass {
namespace {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// Its own first, then those beside it, the newest file first.
std::vector<fs::path> histories_beside(const std::string& folder, std::size_t most) {
  std::error_code code;
  const fs::path own = fs::weakly_canonical(folder, code);
  std::vector<std::pair<fs::file_time_type, fs::path>> found;
  std::size_t seen = 0;
  for (auto entry = fs::directory_iterator(own.parent_path(), code); !code && entry != fs::directory_iterator(); entry.increment(code)) {
    if (++seen > most) break;
    const fs::path file = entry->path() / kHistoryFile;
    std::error_code other;
    if (entry->path() == own || !fs::is_regular_file(file, other)) continue;
    found.emplace_back(fs::last_write_time(file, other), file);
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<fs::path> out = {own / kHistoryFile};
  for (auto& [time, file] : found) out.push_back(std::move(file));
  return out;
}

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

int step_for(double seconds, double rows_max) {
  for (const double step : Series::kStepSeconds) {
    if (seconds / step <= rows_max) return static_cast<int>(step);
  }
  return static_cast<int>(Series::kStepSeconds.back());
}

Json rows_of(const std::vector<HistoryRow>& rows) {
  Json out = Json::array();
  for (const HistoryRow& row : rows) {
    out.push_back(
        {{"seconds", row.seconds}, {"samples", row.samples}, {"bytes", row.bytes}, {"loss", row.loss}, {"accuracy", row.accuracy}});
  }
  return out;
}
}  // namespace

void RunShelf::look() {
  const auto now = std::chrono::steady_clock::now();
  if (listed_ != std::chrono::steady_clock::time_point() && now - listed_ < kListed) return;
  listed_ = now;
  runs_.clear();
  std::set<std::string> ids;  // a copied folder has a run twice
  for (const fs::path& file : histories_beside(folder_, kFoldersMax)) {
    if (runs_.size() >= kRunsMax) break;
    auto store = HistoryStore::open_as_it_is(file.string());
    if (!store.ok()) continue;  // of another build, or none: `hourglass runs` says so
    const auto runs = (*store)->runs();
    if (!runs.ok()) continue;
    for (const RunSummary& run : *runs) {
      if (ids.insert(run.id).second) runs_.push_back({file.string(), file.parent_path().filename().string(), run});
    }
  }
  std::stable_sort(runs_.begin(), runs_.end(), [](const Found& a, const Found& b) { return a.summary.started_ms > b.summary.started_ms; });
  if (runs_.size() > kRunsMax) runs_.resize(kRunsMax);
}

std::string RunShelf::list_json() {
  look();
  Json runs = Json::array();
  for (const Found& found : runs_) {
    const RunSummary& run = found.summary;
    runs.push_back({{"id", run.id},
                    {"folder", found.folder},
                    {"model", run.model},
                    {"dataset", run.dataset},
                    {"phase", run.phase},
                    {"workers", run.workers},
                    {"started_ms", run.started_ms},
                    {"seconds", run.seconds},
                    {"samples", run.samples_done},
                    {"loss", run.loss},
                    {"test_loss", run.test_loss},
                    {"accuracy", run.accuracy}});
  }
  return text_of({{"available", true}, {"runs", std::move(runs)}});
}

std::optional<std::string> RunShelf::curves_json(std::string_view id) {
  look();
  const auto found = std::find_if(runs_.begin(), runs_.end(), [&](const Found& run) { return run.summary.id == id; });
  if (found == runs_.end()) return std::nullopt;
  auto store = HistoryStore::open_as_it_is(found->file);
  if (!store.ok()) return std::nullopt;
  const int step = step_for(found->summary.seconds, kRowsMax);
  std::map<double, std::array<Json, 4>> rows;
  constexpr std::array<const char*, 4> kCurves = {"loss", "version", "samples", "bytes"};
  for (std::size_t i = 0; i < kCurves.size(); ++i) {
    const auto points = (*store)->series(found->summary.id, step, kCurves[i]);
    if (!points.ok()) return std::nullopt;
    for (const HistoryPoint& point : *points) rows[point.time][i] = point.mean;
  }
  const auto evaluations = (*store)->evaluations(found->summary.id);
  if (!evaluations.ok()) return std::nullopt;
  Json out = {{"id", found->summary.id}, {"step_seconds", step}, {"time", Json::array()}};
  for (const char* curve : kCurves) out[curve] = Json::array();
  for (auto& [time, values] : rows) {
    out["time"].push_back(time);
    for (std::size_t i = 0; i < kCurves.size(); ++i) out[kCurves[i]].push_back(std::move(values[i]));
  }
  out["history"] = rows_of(*evaluations);
  return text_of(out);
}

}  // namespace hourglass
