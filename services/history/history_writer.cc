// SPDX-License-Identifier: Apache-2.0
#include "services/history/history_writer.h"

#include <chrono>
#include <csignal>
#include <utility>

namespace hourglass {
namespace {
/// A transaction costs a write to the disk: states that come faster share one.
constexpr auto kPause = std::chrono::seconds(1);

std::int64_t unix_ms_now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}
}  // namespace

HistoryWriter::HistoryWriter(std::unique_ptr<HistoryStore> store, StateSink* next, Describe describe, Complain complain)
    : store_(std::move(store)), next_(next), describe_(std::move(describe)), complain_(std::move(complain)) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the main thread
  thread_ = std::thread([this] { write(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

HistoryWriter::~HistoryWriter() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void HistoryWriter::publish(std::shared_ptr<const DashboardState> state) {
  if (next_ != nullptr) next_->publish(state);
  {
    const std::lock_guard lock(mutex_);
    waiting_ = std::move(state);
  }
  changed_.notify_all();
}

void HistoryWriter::write() {
  bool failing = false;
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ended_ || waiting_; });
    const std::shared_ptr<const DashboardState> state = std::exchange(waiting_, nullptr);
    if (!state) return;  // ended, and nothing is left
    lock.unlock();
    const Status stored = store_->store(*state, state->job ? describe_(*state->job) : KeyedTexts(), unix_ms_now());
    if (!stored.ok() && !failing && complain_) complain_(stored.error());
    failing = !stored.ok();
    lock.lock();
    changed_.wait_for(lock, kPause, [this] { return ended_; });
  }
}

}  // namespace hourglass
