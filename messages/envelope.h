// SPDX-License-Identifier: Apache-2.0
// The first frame of every message on the wire: fixed size, so that a foreign or damaged frame is recognised before anything is
// parsed. The second and last frame is the body.
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "messages/message_type.h"

namespace hourglass {

struct Envelope {
  MessageType type{};
  Traffic traffic = Traffic::control;
  ActorId from;
  std::uint64_t sequence = 0;  ///< counts the sender's messages to this receiver
  SharedBytes body;
  std::string source_address;  ///< where the transport saw it come from ("10.0.0.7"); empty in the simulator
};

/// Little-endian: "HGLS", protocol u16, type u8, traffic u8, role u8, 3 zero bytes, index u32, sequence u64, body bytes u32,
/// checksum u32 of the 28 bytes before it. The body's own blobs carry checksums of their own.
inline constexpr std::size_t kHeaderBytes = 32;
/// The header's `protocol`: it rises only when this layout changes, so that the Hello of a build with other message versions can
/// be read, and refused by name.
inline constexpr std::uint16_t kHeaderProtocol = 1;

Bytes encode_header(const Envelope& envelope);
/// Everything but `body` and `source_address`. Errors: malformed (size, magic, checksum, role, traffic, padding, `body_bytes` other
/// than the header says), over_limit (body), unsupported (protocol; an unknown type is for the receiver to count).
Result<Envelope> decode_header(std::span<const std::byte> header, std::size_t body_bytes);

}  // namespace hourglass
