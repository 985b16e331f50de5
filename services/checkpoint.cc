// SPDX-License-Identifier: Apache-2.0
// hourglass checkpoint list|inspect|verify: what a run can be resumed from. Reads only; the run may be going on.
#include <algorithm>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "actors/aggregator/checkpoint.h"
#include "services/command.h"
#include "services/hosting/text_file.h"
#include "services/supervisor/progress.h"

namespace hourglass {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::uint64_t kFileBytesMax = std::uint64_t{16} << 30;

struct Row {
  std::string file;  ///< path
  std::uint64_t bytes = 0;
  Result<Checkpoint> read = Error{Errc::io, "not read"};
};

ExitCode fail(ExitCode code, const std::string& text) {
  std::cerr << "hourglass: " << text << '\n';
  return code;
}

Row read_row(const std::string& file) {
  Row row{file};
  const auto text = read_text(file, kFileBytesMax);
  row.bytes = text ? text->size() : 0;
  row.read = text ? decode_checkpoint(as_span(*text)) : Result<Checkpoint>(Errc::io, "it cannot be read");
  return row;
}

/// Of a run folder: its checkpoints, oldest first; of a file: that one.
std::vector<std::string> files_at(const std::string& place) {
  std::error_code code;
  if (!fs::is_directory(place, code)) return {place};
  std::vector<std::pair<std::uint64_t, std::string>> found;
  for (auto entry = fs::directory_iterator(place, code); !code && entry != fs::directory_iterator(); entry.increment(code)) {
    if (const auto number = checkpoint_number_of(entry->path().filename().string())) found.emplace_back(*number, entry->path().string());
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> out;
  for (auto& [number, file] : found) out.push_back(std::move(file));
  return out;
}

Json object_of(const Row& row) {
  Json out = {{"file", row.file}, {"bytes", row.bytes}, {"good", row.read.ok()}};
  if (!row.read.ok()) {
    out["cause"] = row.read.error().text;
    return out;
  }
  const CheckpointMeta& meta = row.read->meta;
  out["number"] = meta.number;
  out["generation"] = meta.generation;
  out["phase"] = name_of(meta.phase);
  out["seconds"] = meta.seconds;
  out["samples"] = meta.samples_done;
  out["samples_total"] = meta.samples_total;
  out["accuracy"] = meta.accuracy ? Json(*meta.accuracy) : Json(nullptr);
  out["versions"] = {{"conv", meta.conv_version}, {"fc", meta.fc_version}};
  out["model"] = row.read->job.model;
  out["dataset"] = row.read->job.dataset;
  out["build"] = meta.build;
  return out;
}

std::string line_of(const Row& row) {
  std::ostringstream out;
  out << std::left << std::setw(26) << fs::path(row.file).filename().string() << std::right << std::setw(12) << row.bytes << " bytes  ";
  if (!row.read.ok()) {
    out << "BROKEN: " << row.read.error().text;
    return out.str();
  }
  const CheckpointMeta& meta = row.read->meta;
  out << "samples " << meta.samples_done << " of " << meta.samples_total << ", " << show_short(meta.seconds) << " s, generation "
      << meta.generation << ", conv version " << meta.conv_version;
  if (meta.accuracy) out << ", test accuracy " << show_share(*meta.accuracy);
  if (meta.phase == Phase::pausing) out << ", at a stop";
  return out.str();
}

void inspect(const Row& row, bool json) {
  const Checkpoint& checkpoint = *row.read;
  std::vector<std::pair<std::string, std::size_t>> sections = {
      {"parameters", checkpoint.parameters.size()}, {"conv", checkpoint.conv.size()},       {"fc", checkpoint.fc.size()},
      {"books", checkpoint.books.size()},           {"metrics", checkpoint.metrics.size()},
  };
  for (const auto& [worker, state] : checkpoint.worker_states) {
    sections.emplace_back("state of " + std::string(name_of(worker.first)) + " " + std::to_string(worker.second), state.size());
  }
  if (json) {
    Json out = object_of(row);
    for (const auto& [name, bytes] : sections) out["sections"][name] = bytes;
    std::cout << out.dump() << std::endl;
    return;
  }
  std::cout << line_of(row) << "\n  model    " << checkpoint.job.model << "\n  dataset  " << checkpoint.job.dataset << "\n  build    "
            << checkpoint.meta.build << '\n';
  for (const auto& [name, bytes] : sections) std::cout << "  " << std::setw(12) << bytes << " bytes  " << name << '\n';
}

}  // namespace

ExitCode run_checkpoint(Invocation& invocation) {
  const std::string& action = invocation.action;
  if (action != "list" && action != "inspect" && action != "verify") {
    return fail(ExitCode::usage, (action.empty() ? "what to do is missing" : "unknown action '" + action + "'") +
                                     std::string(": hourglass checkpoint list|inspect|verify RUN"));
  }
  if (invocation.place.empty())
    return fail(ExitCode::usage, "a run folder or a checkpoint file is missing: hourglass checkpoint " + action + " RUN");
  std::error_code code;
  if (!fs::exists(invocation.place, code)) return fail(ExitCode::missing_data, invocation.place + " does not exist");
  const auto files = files_at(invocation.place);
  if (files.empty()) return fail(ExitCode::missing_data, invocation.place + " holds no checkpoint");
  std::vector<Row> rows;
  for (const std::string& file : files) rows.push_back(read_row(file));
  if (action == "inspect") {
    const auto newest = std::find_if(rows.rbegin(), rows.rend(), [](const Row& row) { return row.read.ok(); });
    if (newest == rows.rend()) return fail(ExitCode::bad_data, rows.back().file + ": " + rows.back().read.error().text);
    inspect(*newest, invocation.json);
    return ExitCode::ok;
  }
  const bool all_good = std::all_of(rows.begin(), rows.end(), [](const Row& row) { return row.read.ok(); });
  if (invocation.json) {
    Json out = Json::array();
    for (const Row& row : rows) out.push_back(object_of(row));
    std::cout << out.dump() << std::endl;
  } else {
    for (const Row& row : rows) std::cout << (action == "verify" && row.read.ok() ? "good    " : "") << line_of(row) << '\n';
  }
  return action == "verify" && !all_good ? ExitCode::bad_data : ExitCode::ok;
}

}  // namespace hourglass
