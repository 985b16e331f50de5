// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace hourglass::zmq {

/// How signal handlers (and other threads) ask a reactor to stop. Outlives the reactor.
class StopFlag {
 public:
  StopFlag();
  ~StopFlag();
  StopFlag(const StopFlag&) = delete;
  StopFlag& operator=(const StopFlag&) = delete;

  /// Async-signal-safe. The first request calls Actor::stop, the second ends the actor.
  void request() noexcept;
  [[nodiscard]] std::uint32_t requests() const noexcept { return requests_.load(std::memory_order_acquire); }
  /// Readable from the first request on, until acknowledge().
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  void acknowledge() noexcept;

 private:
  int descriptor_;
  std::atomic<std::uint32_t> requests_{0};
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
};

}  // namespace hourglass::zmq
