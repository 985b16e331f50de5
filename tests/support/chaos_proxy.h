// SPDX-License-Identifier: Apache-2.0
// A TCP relay in front of one port of this machine that delays, slices, flips, freezes and cuts what passes through it.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <mutex>
#include <thread>

namespace hourglass::testing_support {

class ChaosProxy {
 public:
  /// Relays connections to its own port, on loopback, to `target`.
  explicit ChaosProxy(std::uint16_t target, std::uint64_t seed = 1);
  ~ChaosProxy();
  ChaosProxy(const ChaosProxy&) = delete;
  ChaosProxy& operator=(const ChaosProxy&) = delete;
  [[nodiscard]] std::uint16_t port() const { return port_; }

  /// From now on, at any time and from any thread:
  void delay(int milliseconds) { delay_ms_ = milliseconds; }
  void slice(bool on) { slice_ = on; }                           ///< into pieces of 1 to 7 bytes
  void flip_every(std::uint64_t bytes) { flip_every_ = bytes; }  ///< one bit in so many bytes on average; 0: none
  void freeze(bool on) { frozen_ = on; }                         ///< half open: connections stay, nothing passes
  void cut() { ++cuts_wanted_; }                                 ///< closes every connection once

  [[nodiscard]] std::uint64_t connections() const { return connections_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] std::uint64_t flips() const { return flips_; }
  [[nodiscard]] std::uint64_t slices() const { return slices_; }
  [[nodiscard]] std::uint64_t cuts() const { return cuts_; }  ///< connections that were closed by cut()

 private:
  void serve();
  void relay(int client, std::uint64_t number);

  std::uint16_t target_;
  std::uint64_t seed_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<bool> ending_{false}, slice_{false}, frozen_{false};
  std::atomic<int> delay_ms_{0};
  std::atomic<std::uint64_t> flip_every_{0}, cuts_wanted_{0};
  std::atomic<std::uint64_t> connections_{0}, bytes_{0}, flips_{0}, slices_{0}, cuts_{0};
  std::mutex mutex_;
  std::list<std::thread> relays_;
  std::thread server_;
};

}  // namespace hourglass::testing_support
