// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>
#include <zmq.hpp>

#include "base/bytes.h"
#include "base/ids.h"
#include "messages/envelope.h"

namespace hourglass {

/// A foreign ZeroMQ client.
class Dealer {
 public:
  Dealer(const std::string& endpoint, const std::string& identity = "") : socket_(context_, ::zmq::socket_type::dealer) {
    socket_.set(::zmq::sockopt::linger, 2000);
    if (!identity.empty()) socket_.set(::zmq::sockopt::routing_id, identity);
    socket_.connect(endpoint);
  }
  void send(const std::vector<std::string>& frames) {
    for (std::size_t i = 0; i < frames.size(); ++i) {
      socket_.send(::zmq::buffer(frames[i]), i + 1 < frames.size() ? ::zmq::send_flags::sndmore : ::zmq::send_flags::none);
    }
  }

 private:
  ::zmq::context_t context_;
  ::zmq::socket_t socket_;
};

/// The header that a message of so many bytes would have.
inline std::string header_for(ActorId from, std::size_t body_bytes, MessageType type = MessageType::activity) {
  Envelope envelope{type, Traffic::control, from, 0, share(Bytes(body_bytes)), {}};
  return std::string(as_text(encode_header(envelope)));
}

}  // namespace hourglass
