// SPDX-License-Identifier: Apache-2.0
// The thread that always has time: it sends heartbeats whatever the main loop computes, and reads the socket watches, for which ZeroMQ
// waits.
#pragma once

#include <atomic>
#include <chrono>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>
#include <zmq.hpp>

#include "base/metrics.h"
#include "runtime/traffic_accounting.h"
#include "runtime/zmq/name_lookup.h"
#include "runtime/zmq/socket_watch.h"
#include "runtime/zmq/transport.h"

namespace hourglass::zmq {

/// When to give up on a socket that says nothing, and how often to try again.
struct Patience {
  Duration silence_max{};
  static constexpr Duration kBackOffMin = std::chrono::seconds(1), kBackOffMax = std::chrono::seconds(32);
};

class Pulse {
 public:
  struct Options {
    ActorId self;
    std::optional<Endpoint> aggregator;  ///< none: no heartbeats
    Duration interval{};
    Patience patience;
    TransportSettings transport;
  };
  /// The context outlives the pulse.
  Pulse(::zmq::context_t& context, const Options& options);
  ~Pulse();
  Pulse(const Pulse&) = delete;
  Pulse& operator=(const Pulse&) = delete;

  // For the main loop:
  /// Throws zmq::error_t where there are no descriptors left.
  void watch(::zmq::socket_t& socket, std::shared_ptr<LinkHealth> health);
  /// The loop has something to do from now on, as far as a heartbeat's progress age goes.
  void busy() { busy_since_.store(ticks(), std::memory_order_relaxed); }
  /// The loop waits for something to happen.
  void idle() { busy_since_.store(0, std::memory_order_relaxed); }
  /// Adds what was counted since the last call.
  void collect(Metrics& into);

 private:
  using Clock = std::chrono::steady_clock;
  static std::int64_t ticks() { return Clock::now().time_since_epoch().count(); }

  void run();
  void open_heart();
  void beat();
  void look_after_heart();
  void find_aggregator();
  void wait(std::list<SocketWatch>& watches);
  void ring();

  ::zmq::context_t& context_;
  const Options options_;
  const TrafficAccounting accounting_;
  const int bell_;  ///< eventfd: a new watch, or the end
  std::atomic<bool> ending_{false};
  std::atomic<std::int64_t> busy_since_{0};

  std::mutex mutex_;
  std::vector<SocketWatch> new_watches_;  ///< under the mutex
  Metrics counters_;                      ///< under the mutex

  // The thread's own:
  ::zmq::socket_t heart_;
  std::shared_ptr<LinkHealth> heart_health_;
  std::string address_;  ///< of an aggregator that has a name; empty: not known yet
  NameLookup lookup_;
  std::uint64_t sequence_ = 0;
  Clock::time_point next_beat_, heart_alive_, next_heart_, next_lookup_;
  Duration back_off_ = Patience::kBackOffMin;

  std::thread thread_;
};

}  // namespace hourglass::zmq
