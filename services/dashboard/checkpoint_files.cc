// SPDX-License-Identifier: Apache-2.0
#include "services/dashboard/checkpoint_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/bytes.h"

namespace hourglass {
namespace {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct Found {
  std::uint64_t number = 0;
  std::string name;
};

/// Newest first. A folder that is not there has none.
std::vector<Found> files_of(const std::string& folder) {
  std::vector<Found> out;
  std::error_code code;
  std::size_t seen = 0;
  for (auto entry = fs::directory_iterator(folder, code); !code && entry != fs::directory_iterator(); entry.increment(code)) {
    if (++seen > CheckpointFiles::kEntriesMax) break;
    std::string name = entry->path().filename().string();
    if (const auto number = number_of_checkpoint(name)) out.push_back({*number, std::move(name)});
  }
  std::sort(out.begin(), out.end(), [](const Found& a, const Found& b) { return a.number > b.number; });
  return out;
}

/// A regular file of this folder itself; below 0 where there is none. Links are not followed, and a pipe keeps nobody waiting.
int open_file(const std::string& folder, const std::string& name, struct stat& about) {
  const int at = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (at < 0) return -1;
  const int file = ::openat(at, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  ::close(at);
  if (file < 0) return -1;
  if (::fstat(file, &about) == 0 && S_ISREG(about.st_mode)) return file;
  ::close(file);
  return -1;
}

Bytes beginning(int file) {
  Bytes out(CheckpointFiles::kBeginBytes);
  const ssize_t read = ::pread(file, out.data(), out.size(), 0);
  out.resize(read < 0 ? 0 : static_cast<std::size_t>(read));
  return out;
}

Json row_of(const Found& found, const struct stat& about, const std::optional<CheckpointNote>& note) {
  const std::int64_t modified_ms = std::int64_t{about.st_mtim.tv_sec} * 1000 + about.st_mtim.tv_nsec / 1000000;
  Json row = {{"name", found.name},
              {"number", found.number},
              {"bytes", about.st_size},
              {"modified_ms", modified_ms},
              {"readable", note.has_value()}};
  if (!note) return row;
  row["generation"] = note->generation;
  row["seconds"] = note->seconds;
  row["samples"] = note->samples_done;
  row["samples_total"] = note->samples_total;
  row["version"] = note->version;
  row["accuracy"] = note->accuracy >= 0 ? Json(note->accuracy) : Json(nullptr);
  return row;
}
}  // namespace

std::optional<std::uint64_t> number_of_checkpoint(std::string_view name) {
  constexpr std::string_view kBegin = "checkpoint-", kEnd = ".hgck";
  constexpr std::size_t kDigitsMin = 8, kDigitsMax = 20;
  if (!name.starts_with(kBegin) || !name.ends_with(kEnd) || name.size() < kBegin.size() + kEnd.size()) return std::nullopt;
  const std::string_view digits = name.substr(kBegin.size(), name.size() - kBegin.size() - kEnd.size());
  if (digits.size() < kDigitsMin || digits.size() > kDigitsMax) return std::nullopt;
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size()) return std::nullopt;
  return number;
}

std::string CheckpointFiles::json() const {
  Json out = {{"available", !folder_.empty()}, {"total", 0}, {"checkpoints", Json::array()}};
  if (folder_.empty()) return out.dump();
  const std::vector<Found> files = files_of(folder_);
  out["total"] = files.size();
  for (const Found& found : files) {
    if (out["checkpoints"].size() >= kShownMax) break;
    struct stat about {};
    const int file = open_file(folder_, found.name, about);
    if (file < 0) continue;  // it has gone meanwhile, or is none
    const auto note = describe_ ? describe_(beginning(file)) : std::nullopt;
    ::close(file);
    out["checkpoints"].push_back(row_of(found, about, note));
  }
  return out.dump();
}

CheckpointFiles::Opened CheckpointFiles::open(std::string_view name, std::shared_ptr<http::FileBody>& out) const {
  if (folder_.empty() || !number_of_checkpoint(name)) return Opened::no_such;
  if (http::FileBody::alive() >= kDownloadsMax) return Opened::too_many;
  struct stat about {};
  const int file = open_file(folder_, std::string(name), about);
  if (file < 0) return Opened::no_such;
  out = std::make_shared<http::FileBody>(file, static_cast<std::uint64_t>(about.st_size));
  return Opened::yes;
}

}  // namespace hourglass
