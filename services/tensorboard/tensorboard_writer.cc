// SPDX-License-Identifier: Apache-2.0
#include "services/tensorboard/tensorboard_writer.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <utility>

namespace hourglass {
namespace {
/// Of states that come faster only the newest is written: curves need no more, and a disk less.
constexpr auto kPause = std::chrono::seconds(1);

double unix_now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

std::string name_of_run(std::uint64_t run) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(run));
  return text;
}

std::string safe_in_names(std::string host) {
  std::ranges::replace_if(
      host, [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '.'; }, '_');
  return host.empty() ? "host" : host;
}
}  // namespace

TensorboardWriter::TensorboardWriter(std::string folder, const std::string& host, StateSink* next, Complain complain)
    : folder_(std::move(folder)), host_(safe_in_names(host)), next_(next), complain_(std::move(complain)) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the main thread
  thread_ = std::thread([this] { write(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TensorboardWriter::~TensorboardWriter() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void TensorboardWriter::publish(std::shared_ptr<const DashboardState> state) {
  if (next_ != nullptr) next_->publish(state);
  {
    const std::lock_guard lock(mutex_);
    waiting_ = std::move(state);
  }
  changed_.notify_all();
}

void TensorboardWriter::write() {
  bool failing = false;
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ended_ || waiting_; });
    const std::shared_ptr<const DashboardState> state = std::exchange(waiting_, nullptr);
    if (!state) return;  // ended, and nothing is left
    lock.unlock();
    const Status written = write_state(*state);
    if (!written.ok() && !failing && complain_) complain_(written.error());
    failing = !written.ok();
    lock.lock();
    changed_.wait_for(lock, kPause, [this] { return ended_; });
  }
}

Status TensorboardWriter::write_state(const DashboardState& state) {
  if (!state.status) return {};
  const std::string folder = folder_ + "/" + name_of_run(state.status->run);
  if (!feed_ || state.status->run != run_) {
    run_ = state.status->run;
    file_ = {};
    std::error_code none;  // a folder that cannot be read is a new one
    const std::filesystem::directory_iterator first(folder, none);
    feed_.emplace(!none && first != std::filesystem::directory_iterator());
  }
  const double now = unix_now();
  const auto news = feed_->look(state, now);
  if (news.begins) begin_step_ = news.begin_step;
  if (news.rows.empty() && !news.begins) return {};
  if (news.begins || !file_.is_open()) {
    if (const Status begun = begin_file(folder, begin_step_, now); !begun.ok()) return begun;
  }
  std::string records;
  for (const auto& row : news.rows) records += tensorboard::record(tensorboard::scalars_message(row));
  return file_.append(records);
}

Status TensorboardWriter::begin_file(const std::string& folder, std::int64_t step, double now) {
  // A later name than the last file's, should the clock have been set back.
  const std::int64_t seconds = std::max(static_cast<std::int64_t>(now), file_.seconds() + 1);
  file_ = {};
  auto file = tensorboard::EventFile::create(folder, seconds, host_);
  if (!file.ok()) return file.error();
  const Status begun =
      file->append(tensorboard::record(tensorboard::version_message(now)) + tensorboard::record(tensorboard::restart_message(now, step)));
  if (begun.ok()) file_ = std::move(file).value();
  return begun;
}

Status can_write_events(const std::string& folder) {
  auto file = tensorboard::EventFile::create(folder, 0, "test");
  if (!file.ok()) return file.error();
  std::error_code none;
  std::filesystem::remove(file->path(), none);
  return {};
}

}  // namespace hourglass
