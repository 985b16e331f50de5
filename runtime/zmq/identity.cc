// SPDX-License-Identifier: Apache-2.0
#include "runtime/zmq/identity.h"

#include <cstring>

namespace hourglass::zmq {
namespace {
constexpr std::size_t kIdentityBytes = 6;
}

std::string encode(const Identity& identity) {
  std::string out(kIdentityBytes, '\0');
  out[0] = static_cast<char>(identity.line);
  out[1] = static_cast<char>(identity.actor.role);
  std::memcpy(out.data() + 2, &identity.actor.index, sizeof identity.actor.index);
  return out;
}

std::optional<Identity> decode_identity(std::string_view bytes) {
  if (bytes.size() != kIdentityBytes) return std::nullopt;
  Identity out;
  out.line = static_cast<Line>(bytes[0]);
  if (out.line != Line::messages && out.line != Line::heartbeats) return std::nullopt;
  if (static_cast<unsigned char>(bytes[1]) >= kRoles) return std::nullopt;
  out.actor.role = static_cast<Role>(bytes[1]);
  std::memcpy(&out.actor.index, bytes.data() + 2, sizeof out.actor.index);
  return out;
}

}  // namespace hourglass::zmq
