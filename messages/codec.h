// SPDX-License-Identifier: Apache-2.0
// One strict codec for every message. MessagePack ends in codec_encode.cc (msgpack-cxx) and codec_decode.cc (a strict reader).
#pragma once

#include <concepts>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "messages/fields.h"
#include "messages/message_type.h"

namespace hourglass {

template <class M>
concept WireMessage = Described<M> && requires {
  { M::kType } -> std::convertible_to<MessageType>;
};

/// Defined for the structs in all_messages.h only. A message that the receiver would refuse (a number out of its range, a text too
/// long, a real that is not finite) is the sender's bug and aborts: who computes a loss looks at it before it fills a message.
template <WireMessage M>
Bytes encode(const M& message);

/// Refuses whatever is not exactly one valid message: wrong counts, types or ranges, non-finite reals, wrong checksums, trailing
/// bytes (Errc::malformed), anything above a limit (Errc::over_limit). Never allocates past its limits. The error's text names
/// the message and the position of the field, counted from 1: "gradient_push: field 8: item 2: field 10: wrong checksum".
template <WireMessage M>
Result<M> decode(std::span<const std::byte> body);

std::string_view name_of(MessageType type);  ///< "gradient_push"; "unknown" for what is not in the list
bool is_known(std::uint8_t type);

/// What a message is accounted as.
template <WireMessage M>
Traffic traffic_of(const M& message);

/// An encoded message on its way to the post office.
struct Parcel {
  MessageType type{};
  Traffic traffic = Traffic::control;
  SharedBytes body;
};

template <WireMessage M>
Parcel pack(const M& message) {
  return {M::kType, traffic_of(message), share(encode(message))};
}

}  // namespace hourglass
