// SPDX-License-Identifier: Apache-2.0
// The byte counters that every reactor keeps for its actor, computed alike over sockets and in the simulator.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "base/metrics.h"
#include "messages/envelope.h"
#include "messages/message_type.h"

namespace hourglass {

/// What a message of two frames takes on a ZMTP 3.1 connection: each frame has a flag byte and a length of 1 byte (up to 255) or 8 bytes.
constexpr std::size_t socket_bytes(std::size_t body_bytes) {
  constexpr std::size_t kHeaderFrame = 2 + kHeaderBytes;
  return kHeaderFrame + (body_bytes <= 255 ? 2 : 9) + body_bytes;
}

/// "sent.<traffic>.payload", "sent.<traffic>.socket", "sent.messages", and "received." likewise.
class TrafficAccounting {
 public:
  void count_sent(Metrics& metrics, Traffic traffic, std::size_t body_bytes) const { add(metrics, sent_, traffic, body_bytes); }
  void count_received(Metrics& metrics, Traffic traffic, std::size_t body_bytes) const { add(metrics, received_, traffic, body_bytes); }

 private:
  struct Names {
    explicit Names(const std::string& direction) : messages(direction + "messages") {
      for (std::uint8_t i = 0; i < kTraffics; ++i) {
        payload[i] = direction + std::string(name_of(static_cast<Traffic>(i))) + ".payload";
        socket[i] = direction + std::string(name_of(static_cast<Traffic>(i))) + ".socket";
      }
    }
    std::array<std::string, kTraffics> payload, socket;
    std::string messages;
  };

  static void add(Metrics& metrics, const Names& names, Traffic traffic, std::size_t body_bytes) {
    const auto row = static_cast<std::size_t>(traffic);
    metrics.count(names.payload[row], static_cast<double>(body_bytes));
    metrics.count(names.socket[row], static_cast<double>(socket_bytes(body_bytes)));
    metrics.count(names.messages, 1);
  }

  Names sent_{"sent."};
  Names received_{"received."};
};

}  // namespace hourglass
