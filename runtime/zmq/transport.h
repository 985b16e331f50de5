// SPDX-License-Identifier: Apache-2.0
// How our sockets are set. ZeroMQ's defaults are for other purposes: they drop silently, queue a thousand messages of any size, and wait
// for ever.
//
//   ROUTER (bound)         MANDATORY 1        an unroutable message is an error, not a silence
//                          HANDOVER 1         a peer that reconnects takes its name back from its dead connection
//   DEALER (connecting)    IMMEDIATE 1        nothing is queued for a connection that does not exist
//                          CONNECT_TIMEOUT 3 s, RECONNECT_IVL 100 ms doubling to 5 s with jitter
//   both                   SNDHWM, RCVHWM 8   marks count messages; bytes are limited by our own credit
//                          MAXMSGSIZE         a larger frame cuts the connection
//                          HEARTBEAT 0        ZMTP's own beats abort the process (libzmq 4.3.4, "!_io_error") where a connection breaks
//                                             while its input is stopped by a full pipe; the kernel finds dead hosts instead:
//                          TCP_KEEPALIVE idle 3 s, interval 1 s, 3 probes   dead hosts and cut cables, what forgets idle connections
//                          TCP_MAXRT 15 s     the same while bytes are under way; longer than a pause of a live peer
//                          HANDSHAKE_IVL 5 s  silent connections
//                          LINGER             bounded
//                          AFFINITY           bound sockets use the first I/O thread, connecting ones the second
// Endpoints to connect to are numeric: ZeroMQ's own name resolution would block an I/O thread (name_lookup.h).
#pragma once

#include <chrono>
#include <string>
#include <zmq.hpp>

#include "base/result.h"
#include "runtime/zmq/endpoint.h"
#include "runtime/zmq/identity.h"

namespace hourglass::zmq {

struct TransportSettings {
  std::size_t message_bytes_max = 0;
  std::chrono::milliseconds linger{};
  bool ipv6 = false;
};

inline constexpr int kIoThreads = 2;
inline constexpr int kHighWaterMark = 8;

/// Raises this process's limit of open files to what the system allows: a connection of ours takes four.
::zmq::context_t make_context(int sockets_max);
::zmq::socket_t make_router(::zmq::context_t& context, ActorId self, const TransportSettings& settings);
::zmq::socket_t make_dealer(::zmq::context_t& context, const Identity& self, const TransportSettings& settings);

/// Binds to the first of the endpoint's addresses that works and returns where: "tcp://0.0.0.0:41234". Errors: bad_config, io; with a hint.
Result<std::string> bind(::zmq::socket_t& socket, const Endpoint& endpoint, bool ipv6);
/// Only starts to connect. Errors: bad_config.
Status connect(::zmq::socket_t& socket, const Endpoint& endpoint);

}  // namespace hourglass::zmq
