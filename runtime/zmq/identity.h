// SPDX-License-Identifier: Apache-2.0
// The routing identity of a connection: which actor's it is, and whether it is the one of its messages or of its heartbeats.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"

namespace hourglass::zmq {

enum class Line : char { messages = 'H', heartbeats = 'B' };

struct Identity {
  Line line = Line::messages;
  ActorId actor;
};

/// The line's letter, the role as a byte, the index as 4 bytes, little-endian.
std::string encode(const Identity& identity);
/// Nothing for foreign identities, such as those that ZeroMQ makes up for sockets that have none.
std::optional<Identity> decode_identity(std::string_view bytes);

}  // namespace hourglass::zmq
