// SPDX-License-Identifier: Apache-2.0
#include "messages/envelope.h"

#include <gtest/gtest.h>

#include <string>

#include "messages/fields.h"

namespace hourglass {
namespace {

constexpr std::size_t kBody = 70000;

Envelope envelope() {
  Envelope out;
  out.type = MessageType::activations;
  out.traffic = Traffic::activations;
  out.from = {Role::conv_worker, 0xfeedf00d};
  out.sequence = 0x0123456789abcdef;
  out.body = share(Bytes(kBody));
  return out;
}

/// A header with one byte changed and a right checksum: what a faulty peer would send.
Bytes forged(std::size_t at, int value) {
  Bytes header = encode_header(envelope());
  header[at] = static_cast<std::byte>(value);
  const std::uint32_t sum = checksum(std::span(header).first(28));
  std::memcpy(header.data() + 28, &sum, sizeof sum);
  return header;
}

TEST(EnvelopeHeader, ComesBackEqual) {
  const Envelope sent = envelope();
  const Bytes header = encode_header(sent);
  ASSERT_EQ(header.size(), kHeaderBytes);
  const auto back = decode_header(header, kBody);
  ASSERT_TRUE(back.ok()) << back.error().text;
  EXPECT_EQ(back->type, sent.type);
  EXPECT_EQ(back->traffic, sent.traffic);
  EXPECT_EQ(back->from, sent.from);
  EXPECT_EQ(back->sequence, sent.sequence);
  EXPECT_EQ(back->body, nullptr);
}

TEST(EnvelopeHeader, MayHaveNoBody) {
  Envelope sent = envelope();
  sent.body = nullptr;
  EXPECT_TRUE(decode_header(encode_header(sent), 0).ok());
}

TEST(EnvelopeHeader, EveryRoleAndTrafficTravels) {
  for (std::uint8_t role = 0; role < kRoles; ++role) {
    for (std::uint8_t traffic = 0; traffic < kTraffics; ++traffic) {
      Envelope sent = envelope();
      sent.from.role = static_cast<Role>(role);
      sent.traffic = static_cast<Traffic>(traffic);
      const auto back = decode_header(encode_header(sent), kBody);
      ASSERT_TRUE(back.ok());
      EXPECT_EQ(back->from, sent.from);
      EXPECT_EQ(back->traffic, sent.traffic);
    }
  }
}

TEST(EnvelopeHeader, EachFlippedBitIsRefused) {
  const Bytes header = encode_header(envelope());
  for (std::size_t bit = 0; bit < header.size() * 8; ++bit) {
    Bytes damaged = header;
    damaged[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    const auto back = decode_header(damaged, kBody);
    ASSERT_FALSE(back.ok()) << "bit " << bit;
    EXPECT_EQ(back.error().code, Errc::malformed) << "bit " << bit;
  }
}

TEST(EnvelopeHeader, EveryOtherSizeIsRefused) {
  Bytes header = encode_header(envelope());
  for (std::size_t size = 0; size < 3 * kHeaderBytes; ++size) {
    if (size == kHeaderBytes) continue;
    Bytes other = header;
    other.resize(size);
    EXPECT_EQ(decode_header(other, kBody).error().code, Errc::malformed) << size;
  }
}

TEST(EnvelopeHeader, WhatAFaultyPeerSendsIsRefused) {
  EXPECT_EQ(decode_header(forged(0, 'h'), kBody).error().code, Errc::malformed);
  EXPECT_EQ(decode_header(forged(7, kTraffics), kBody).error().code, Errc::malformed);
  EXPECT_EQ(decode_header(forged(7, 255), kBody).error().code, Errc::malformed);
  EXPECT_EQ(decode_header(forged(8, kRoles), kBody).error().code, Errc::malformed);
  EXPECT_EQ(decode_header(forged(8, 255), kBody).error().code, Errc::malformed);
  for (const std::size_t padding : {9, 10, 11}) EXPECT_EQ(decode_header(forged(padding, 1), kBody).error().code, Errc::malformed);
  EXPECT_EQ(decode_header(forged(27, 0x80), kBody).error().code, Errc::over_limit);
}

TEST(EnvelopeHeader, N7_AnotherProtocolIsNamed) {
  const auto back = decode_header(forged(4, 9), kBody);
  ASSERT_EQ(back.error().code, Errc::unsupported);
  EXPECT_NE(back.error().text.find("protocol 9"), std::string::npos) << back.error().text;
  EXPECT_NE(back.error().text.find("reads " + std::to_string(kHeaderProtocol)), std::string::npos) << back.error().text;
}

TEST(EnvelopeHeader, AnUnknownTypeIsForTheReceiver) {
  const auto back = decode_header(forged(6, 200), kBody);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(static_cast<int>(back->type), 200);
}

TEST(EnvelopeHeader, TheBodyMustHaveTheAnnouncedSize) {
  const Bytes header = encode_header(envelope());
  for (const std::size_t size : {std::size_t{0}, kBody - 1, kBody + 1, kBody + (std::size_t{1} << 32)}) {
    EXPECT_EQ(decode_header(header, size).error().code, Errc::malformed) << size;
  }
}

}  // namespace
}  // namespace hourglass
