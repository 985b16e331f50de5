// SPDX-License-Identifier: Apache-2.0
#include "services/dashboard/event_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>

namespace hourglass {
namespace {
std::string utc(std::int64_t unix_ms) {
  const std::time_t seconds = unix_ms / 1000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char day[32], text[48];
  std::strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &parts);
  std::snprintf(text, sizeof text, "%s.%03dZ", day, static_cast<int>(unix_ms % 1000));
  return text;
}
}  // namespace

std::string event_line(const Event& event) {
  const nlohmann::ordered_json line = {
      {"id", event.id}, {"time", utc(event.unix_ms)}, {"level", std::string(name_of(event.level))}, {"text", event.text}};
  return line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string event_lines(const Findings& findings, std::uint64_t from) {
  if (!findings.events.empty() && from > findings.events.back().id + 1) from = 0;
  std::string out;
  for (const Event& event : findings.events) {
    if (event.id >= from) out += event_line(event) + "\n";
  }
  return out;
}

EventLog::EventLog(std::string file, Board& board, Complain complain, std::uint64_t bytes_max)
    : file_(std::move(file)),
      board_(board),
      bytes_max_(bytes_max),
      writer_([this](const Findings& findings) { return write(findings); }, std::move(complain)) {}

void EventLog::publish(std::shared_ptr<const DashboardState> state) {
  board_.publish(std::move(state));
  writer_.tell(board_.newest().findings);
}

/// What cannot be written is tried again, as long as the watch holds it.
Status EventLog::write(const Findings& findings) {
  if (findings.events.empty() || findings.events.back().id < next_) return {};
  const Status written = append(event_lines(findings, next_));
  if (written.ok()) next_ = findings.events.back().id + 1;
  return written;
}

/// Opened anew each time: events are rare, and whoever moves the file away gets a new one.
Status EventLog::append(const std::string& lines) const {
  struct stat before {};
  if (::stat(file_.c_str(), &before) == 0 && static_cast<std::uint64_t>(before.st_size) + lines.size() > bytes_max_) {
    ::rename(file_.c_str(), (file_ + ".1").c_str());
  }
  const int file = ::open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return {Errc::io, "cannot open " + file_ + ": " + std::strerror(errno)};
  std::string why = ::fstat(file, &before) == 0 ? "" : std::strerror(errno);
  if (why.empty()) {
    const ssize_t count = ::write(file, lines.data(), lines.size());
    if (count != static_cast<ssize_t>(lines.size())) why = count < 0 ? std::strerror(errno) : "no space is left";
    if (!why.empty() && ::ftruncate(file, before.st_size) != 0) why += ", and half a line stays in it";
  }
  ::close(file);
  return why.empty() ? Status() : Status(Errc::io, "cannot write " + file_ + ": " + why);
}

}  // namespace hourglass
