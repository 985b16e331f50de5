// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "messages/fields.h"
#include "messages/message_type.h"

namespace hourglass {

/// Any process -> aggregator, first and again until Welcome or Refuse comes. Its sender is the envelope's `from`.
struct Hello {
  static constexpr MessageType kType = MessageType::hello;
  std::uint32_t protocol_min = kProtocolMin;
  std::uint32_t protocol_max = kProtocolMax;
  std::string build;              ///< version and commit, for people
  std::uint64_t incarnation = 0;  ///< random per process start
  std::uint32_t attempt = 0;      ///< how often this process was dropped and joined again: later messages of an earlier membership are void
  std::string name;               ///< host or container name, for people
  std::string host;               ///< address that peers should use; empty: the one the aggregator sees
  std::uint16_t port = 0;         ///< where this process listens
  std::uint32_t process = 0;      ///< operating-system process id, for people

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.number(m.protocol_min);
    v.number(m.protocol_max);
    v.text(m.build, limits::kNameBytes);
    v.number(m.incarnation);
    v.number(m.attempt);
    v.text(m.name, limits::kNameBytes);
    v.text(m.host, limits::kNameBytes);
    v.number(m.port);
    v.number(m.process);
  }
};

}  // namespace hourglass
