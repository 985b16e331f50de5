// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/time.h"
#include "runtime/context.h"
#include "runtime/zmq/stop_flag.h"

namespace hourglass::zmq {

struct ZmqOptions {
  ActorId self;
  /// Where this process listens. Host: a name, an IPv4 address, an IPv6 address in brackets, a network interface, or * for all;
  /// port 0 takes any free one.
  std::string bind = "tcp://*:0";
  /// "host:port" of the aggregator, who is introduced from the beginning; empty for the aggregator itself.
  std::string aggregator;
  bool ipv6 = false;  ///< speak IPv6 too; turned on by itself where an IPv6 address is given

  std::size_t credit_bytes = 256ULL << 20;       ///< that may wait for one peer
  std::size_t message_bytes_max = 256ULL << 20;  ///< a connection that sends a larger frame is cut
  int sockets_max = 8192;                        ///< a peer that was introduced takes three
  Duration heartbeat_interval = std::chrono::seconds(1);
  Duration silence_max = std::chrono::seconds(10);   ///< of a peer that owes an answer, before the socket to it is made anew
  Duration stop_limit = std::chrono::seconds(10);    ///< from the stop request to the end, whatever the actor does
  Duration linger = std::chrono::milliseconds(500);  ///< for what is queued when the actor exits

  std::string storage_folder;         ///< made if it is not there; empty: Context::storage() refuses everything
  std::optional<std::uint64_t> seed;  ///< of Context::random(); none: the operating system's
  std::function<void(Severity, std::string_view event, const Fields&)> log;  ///< called on the thread that calls step()
  StopFlag* stop = nullptr;                                                  ///< the service's signal handlers set it
};

}  // namespace hourglass::zmq
