// SPDX-License-Identifier: Apache-2.0
// What ZeroMQ tells about the connections of one socket, as counters: "connected", "disconnected", "retried", and "rejected.connections"
// for connections that ended before they had become one (port scans, foreign protocols, silence).
#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <vector>
#include <zmq.hpp>

#include "base/metrics.h"

namespace hourglass::zmq {

/// Written by the watching thread, read by the socket's owner.
struct LinkHealth {
  std::atomic<bool> connected{false};
};

class SocketWatch {
 public:
  /// Called by the watched socket's owner; the watch may then move to another thread. ZeroMQ waits for room in the watch's queue, so it
  /// must always be drained: what reads it may not be busy with anything else. Throws zmq::error_t where there are no descriptors left.
  SocketWatch(::zmq::context_t& context, ::zmq::socket_t& watched, std::shared_ptr<LinkHealth> health);

  /// Reads what has happened. False once the watched socket is closed: then the watch has done its work.
  bool drain(Metrics& counters);
  [[nodiscard]] void* handle() { return events_.handle(); }

 private:
  void note(std::uint16_t event, std::uint32_t value, Metrics& counters);

  ::zmq::socket_t events_;
  std::shared_ptr<LinkHealth> health_;
  std::vector<std::uint32_t> shaking_hands_;  ///< descriptors of connections that are not established yet, oldest first
  std::set<std::uint32_t> established_;
  bool stopped_ = false;
};

}  // namespace hourglass::zmq
