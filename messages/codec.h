// SPDX-License-Identifier: Apache-2.0
// One strict codec for every message. MessagePack ends in codec.cc.
#pragma once

#include <span>

#include "base/bytes.h"
#include "base/result.h"
#include "messages/fields.h"
#include "messages/message_type.h"

namespace hourglass {

template <class M>
concept WireMessage = Described<M> && requires { { M::kType } -> std::convertible_to<MessageType>; };

/// Defined for the structs in all_messages.h only.
template <WireMessage M>
Bytes encode(const M& message);

/// Refuses whatever is not exactly one valid message: wrong counts, types or ranges, non-finite reals, wrong checksums, trailing
/// bytes (Errc::malformed), anything above a limit (Errc::over_limit). Never allocates past its limits.
template <WireMessage M>
Result<M> decode(std::span<const std::byte> body);

std::string_view name_of(MessageType type);       ///< "gradient_push"; "unknown" for what is not in the list
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
