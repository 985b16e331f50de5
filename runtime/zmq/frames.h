// SPDX-License-Identifier: Apache-2.0
// Messages as frames: a 32-byte header and a body, nothing else.
#pragma once

#include <string>
#include <string_view>
#include <zmq.hpp>

#include "messages/envelope.h"

namespace hourglass::zmq {

/// Bodies above this are handed to ZeroMQ without a copy.
inline constexpr std::size_t kCopiedBytesMax = 32 * 1024;

struct Outgoing {
  Bytes header;
  SharedBytes body;
};

enum class Sent { done, later, unreachable };
/// Never blocks. `identity`: the receiver's, for a ROUTER; empty for a DEALER. A message goes as a whole or not at all.
Sent send_frames(::zmq::socket_t& socket, std::string_view identity, const Outgoing& message);

struct Incoming {
  std::string identity;  ///< of the connection; only from a ROUTER
  ::zmq::message_t header, body;
  [[nodiscard]] std::string source_address() const;  ///< "10.0.0.7"
};

enum class Reading {
  nothing,   ///< no message waits
  message,   ///< two frames
  rejected,  ///< some other number of frames; `identity` and the source address are valid
  skipped,   ///< went on throwing away an overlong message
};

/// Reads one socket's messages. A message of very many frames is thrown away over several calls, so that each call is short.
class FrameReader {
 public:
  static constexpr int kFramesPerCall = 64;
  Reading read(::zmq::socket_t& socket, bool from_router, Incoming& incoming);

 private:
  Reading skip(::zmq::socket_t& socket);
  bool skipping_ = false;
};

}  // namespace hourglass::zmq
