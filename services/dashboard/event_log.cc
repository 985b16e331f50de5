// SPDX-License-Identifier: Apache-2.0
#include "services/dashboard/event_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>
#include <utility>

namespace hourglass {
namespace {
constexpr auto kPause = std::chrono::seconds(1);

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
    : file_(std::move(file)), board_(board), complain_(std::move(complain)), bytes_max_(bytes_max) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the main thread
  thread_ = std::thread([this] { write(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

EventLog::~EventLog() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void EventLog::publish(std::shared_ptr<const DashboardState> state) {
  board_.publish(std::move(state));
  auto findings = board_.newest().findings;
  {
    const std::lock_guard lock(mutex_);
    waiting_ = std::move(findings);
  }
  changed_.notify_all();
}

void EventLog::write() {
  bool failing = false;
  std::uint64_t next = 1;
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ended_ || waiting_; });
    const std::shared_ptr<const Findings> findings = std::exchange(waiting_, nullptr);
    if (!findings) return;  // ended, and nothing is left
    if (findings->events.empty() || findings->events.back().id < next) continue;
    lock.unlock();
    const Status written = append(event_lines(*findings, next));
    if (written.ok()) next = findings->events.back().id + 1;  // else they are tried again, as long as the watch holds them
    if (!written.ok() && !failing && complain_) complain_(written.error());
    failing = !written.ok();
    lock.lock();
    changed_.wait_for(lock, kPause, [this] { return ended_; });
  }
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
