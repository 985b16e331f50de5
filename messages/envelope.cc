// SPDX-License-Identifier: Apache-2.0
#include "messages/envelope.h"

#include <array>

#include "base/check.h"
#include "messages/fields.h"

namespace hourglass {
namespace {

constexpr std::array<char, 4> kMagic = {'H', 'G', 'L', 'S'};
constexpr std::size_t kProtocolAt = 4, kTypeAt = 6, kTrafficAt = 7, kRoleAt = 8, kPaddingAt = 9, kIndexAt = 12, kSequenceAt = 16,
                      kBodyBytesAt = 24, kChecksumAt = 28;

template <class T>
void put(Bytes& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}
template <class T>
T get(std::span<const std::byte> bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

}  // namespace

Bytes encode_header(const Envelope& envelope) {
  const std::size_t body_bytes = envelope.body ? envelope.body->size() : 0;
  HG_CHECK(body_bytes <= limits::kBodyBytes, "a message body is above its limit");
  Bytes out(kHeaderBytes);
  put(out, 0, kMagic);
  put(out, kProtocolAt, kHeaderProtocol);
  put(out, kTypeAt, envelope.type);
  put(out, kTrafficAt, envelope.traffic);
  put(out, kRoleAt, envelope.from.role);
  put(out, kIndexAt, envelope.from.index);
  put(out, kSequenceAt, envelope.sequence);
  put(out, kBodyBytesAt, static_cast<std::uint32_t>(body_bytes));
  put(out, kChecksumAt, checksum(std::span(out).first(kChecksumAt)));
  return out;
}

Result<Envelope> decode_header(std::span<const std::byte> header, std::size_t body_bytes) {
  if (header.size() != kHeaderBytes) return {Errc::malformed, "header: " + std::to_string(header.size()) + " bytes instead of 32"};
  if (get<std::array<char, 4>>(header, 0) != kMagic) return {Errc::malformed, "header: not a Hourglass message"};
  if (get<std::uint32_t>(header, kChecksumAt) != checksum(header.first(kChecksumAt))) return {Errc::malformed, "header: wrong checksum"};
  if (const auto protocol = get<std::uint16_t>(header, kProtocolAt); protocol != kHeaderProtocol) {
    return {Errc::unsupported, "header: of protocol " + std::to_string(protocol) + ", this build reads " + std::to_string(kHeaderProtocol)};
  }
  const auto role = get<std::uint8_t>(header, kRoleAt);
  const auto traffic = get<std::uint8_t>(header, kTrafficAt);
  if (role >= kRoles) return {Errc::malformed, "header: no role " + std::to_string(role)};
  if (traffic >= kTraffics) return {Errc::malformed, "header: no traffic " + std::to_string(traffic)};
  if (get<std::array<char, 3>>(header, kPaddingAt) != std::array<char, 3>{}) return {Errc::malformed, "header: padding is not zero"};
  const auto claimed = get<std::uint32_t>(header, kBodyBytesAt);
  if (claimed > limits::kBodyBytes) return {Errc::over_limit, "header: a body of " + std::to_string(claimed) + " bytes is above the limit"};
  if (claimed != body_bytes) {
    return {Errc::malformed,
            "header: a body of " + std::to_string(body_bytes) + " bytes where " + std::to_string(claimed) + " are announced"};
  }
  Envelope out;
  out.type = static_cast<MessageType>(get<std::uint8_t>(header, kTypeAt));
  out.traffic = static_cast<Traffic>(traffic);
  out.from = {static_cast<Role>(role), get<std::uint32_t>(header, kIndexAt)};
  out.sequence = get<std::uint64_t>(header, kSequenceAt);
  return out;
}

}  // namespace hourglass
