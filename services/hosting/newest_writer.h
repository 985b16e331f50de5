// SPDX-License-Identifier: Apache-2.0
// Writes the newest of what it is told from a thread of its own, so that a slow disk holds up nobody.
#pragma once

#include <csignal>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "base/result.h"

namespace hourglass {

/// Called from the writer's thread, once for each failure that follows a success. May be empty.
using Complain = std::function<void(const Error& error)>;

/// Whoever owns one makes it the last member: its thread ends before what it writes with. tell() from any thread.
template <class T>
class NewestWriter {
 public:
  static constexpr std::chrono::seconds kPause{1};  ///< between two writes: of what comes faster only the newest is written

  NewestWriter(std::function<Status(const T&)> write, Complain complain) : write_(std::move(write)), complain_(std::move(complain)) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the main thread
    thread_ = std::thread([this] { work(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  /// Writes the newest, then ends.
  ~NewestWriter() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  NewestWriter(const NewestWriter&) = delete;
  NewestWriter& operator=(const NewestWriter&) = delete;

  void tell(std::shared_ptr<const T> value) {
    {
      const std::lock_guard lock(mutex_);
      waiting_ = std::move(value);
    }
    changed_.notify_all();
  }

 private:
  void work() {
    bool failing = false;
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return ended_ || waiting_; });
      const std::shared_ptr<const T> value = std::exchange(waiting_, nullptr);
      if (!value) return;  // ended, and nothing is left
      lock.unlock();
      const Status written = write_(*value);
      if (!written.ok() && !failing && complain_) complain_(written.error());
      failing = !written.ok();
      lock.lock();
      changed_.wait_for(lock, kPause, [this] { return ended_; });
    }
  }

  std::function<Status(const T&)> write_;
  Complain complain_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<const T> waiting_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace hourglass
