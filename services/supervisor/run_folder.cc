// SPDX-License-Identifier: Apache-2.0
#include "services/supervisor/run_folder.h"

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "services/supervisor/run_report.h"

namespace hourglass {
namespace {

namespace fs = std::filesystem;

constexpr int kNamesMax = 1000;

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &parts);
  return text;
}

/// A layer spec is no file name.
std::string short_name(const std::string& model) {
  const bool plain = std::all_of(model.begin(), model.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
  return plain && model.size() <= 40 ? model : "custom";
}

Status make(const std::string& folder) {
  std::error_code failure;
  fs::create_directories(folder + "/logs", failure);
  if (failure) return {Errc::io, "run folder " + folder + ": " + failure.message()};
  return {};
}

}  // namespace

Result<std::string> make_run_folder(const std::string& wanted, const std::string& model) {
  std::error_code ignored;
  if (!wanted.empty()) {
    for (const char* file : {kJobFile, kStatusFile, kResultFile, kModelFile}) {
      if (fs::exists(wanted + "/" + file, ignored)) {
        return {Errc::bad_config, "it holds another run (" + std::string(file) + "); give a new or empty folder"};
      }
    }
    if (const Status made = make(wanted); !made.ok()) return made.error();
    return wanted;
  }
  const std::string base = "runs/" + utc_now() + "-" + short_name(model);
  for (int i = 1; i <= kNamesMax; ++i) {
    const std::string folder = i == 1 ? base : base + "-" + std::to_string(i);
    if (fs::exists(folder, ignored)) continue;
    if (const Status made = make(folder); !made.ok()) return made.error();
    return folder;
  }
  return {Errc::io, "no free name for a run folder like " + base};
}

Result<std::string> resume_run_folder(const std::string& folder) {
  std::error_code code;
  if (!fs::exists(folder + "/" + kJobFile, code)) return {Errc::bad_config, folder + " holds no run (" + kJobFile + " is missing)"};
  if (!fs::exists(folder + "/" + kStateFile, code)) {
    return {Errc::bad_config, folder + " holds nothing to go on from (" + kStateFile +
                                  " is missing): it was run with --checkpoint-every 0, or "
                                  "ended before it began"};
  }
  const std::string result = folder + "/" + kResultFile;
  if (const auto text = read_text(result); text && text_member(*text, "status") == "finished") {
    return {Errc::bad_config, "the run in " + folder + " has finished: there is nothing to go on with"};
  }
  if (const Status made = make(folder); !made.ok()) return made.error();
  if (fs::remove(result, code); code) return {Errc::io, result + ": " + code.message()};
  return folder;
}

std::string model_file_of(const std::string& from) {
  std::error_code ignored;
  return fs::is_directory(from, ignored) ? (fs::path(from) / kModelFile).string() : from;
}

std::string job_file_beside(const std::string& from) {
  std::error_code ignored;
  const fs::path job = fs::path(model_file_of(from)).parent_path() / kJobFile;
  return fs::exists(job, ignored) ? job.string() : "";
}

}  // namespace hourglass
