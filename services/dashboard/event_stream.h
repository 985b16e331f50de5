// SPDX-License-Identifier: Apache-2.0
// One browser's queue of server-sent events. A reader that is slow or stuck costs this queue and nothing else: the oldest event gives way.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>

namespace hourglass::http {

/// Shared by all readers: 500 queues of one event hold its text once.
using EventText = std::shared_ptr<const std::string>;

class EventStream {
 public:
  static constexpr std::size_t kWaitingMax = 8;

  /// Adds one event. True where the oldest that waits had to be dropped for it; never the one that is being sent: a half event would be
  /// garbage.
  bool push(EventText event);
  /// No more events come; what waits is dropped.
  void close();
  [[nodiscard]] std::size_t waiting() const;

  // For the server, from its one thread.
  enum class Read { some, pause, end };
  /// Copies what is ready into `out` and sets `count`. Where nothing is, calls `pause` under the lock, so that no push slips by unseen.
  Read read(std::span<char> out, std::size_t& count, const std::function<void()>& pause);
  /// What a push must do to a paused reader; an empty function when the connection is gone.
  void on_ready(std::function<void()> resume);

 private:
  void wake();

  mutable std::mutex mutex_;
  std::deque<EventText> waiting_;
  EventText sending_;
  std::size_t sent_ = 0;  ///< bytes of `sending_`
  bool paused_ = false;
  bool closed_ = false;
  std::function<void()> resume_;
};

}  // namespace hourglass::http
