// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace hourglass {
namespace {

TEST(Bytes, NumbersAreLittleEndianAndComeBack) {
  const std::vector<std::uint32_t> values = {1, 0x01020304, 0xffffffff};
  const Bytes bytes = to_bytes(std::span(values));
  ASSERT_EQ(bytes.size(), 12U);
  EXPECT_EQ(bytes[0], std::byte{1});
  EXPECT_EQ(bytes[4], std::byte{4});
  EXPECT_EQ(bytes[7], std::byte{1});
  EXPECT_EQ(from_bytes<std::uint32_t>(bytes), values);
}

TEST(Bytes, AnyAlignmentWillDo) {
  const std::vector<double> values = {1.5, -2.25};
  Bytes bytes(1);
  const Bytes packed = to_bytes(std::span(values));
  bytes.insert(bytes.end(), packed.begin(), packed.end());
  EXPECT_EQ(from_bytes<double>(std::span(bytes).subspan(1)), values);
}

TEST(Bytes, WhatIsLeftOverIsIgnored) {
  EXPECT_EQ(from_bytes<std::uint16_t>(Bytes(5)).size(), 2U);
  EXPECT_TRUE(from_bytes<std::uint64_t>(Bytes(7)).empty());
  EXPECT_TRUE(from_bytes<std::uint16_t>({}).empty());
  EXPECT_TRUE(to_bytes(std::span<const float>()).empty());
}

TEST(Bytes, TextAndBytesAreTheSameMemory) {
  const std::string text = "hourglass";
  EXPECT_EQ(as_text(as_span(text)), text);
  EXPECT_EQ(static_cast<const void*>(as_span(text).data()), static_cast<const void*>(text.data()));
}

TEST(Fingerprint, IsXxh3) {
  // Published test vectors of XXH3_64bits with seed 0.
  EXPECT_EQ(fingerprint({}), 0x2d06800538d394c2ULL);
  EXPECT_EQ(checksum({}), 0x38d394c2U);
}

TEST(Checksum, SeesEveryFlippedBit) {
  Bytes bytes(67);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 37);
  std::set<std::uint32_t> sums = {checksum(bytes)};
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    sums.insert(checksum(bytes));
    bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
  }
  EXPECT_EQ(sums.size(), bytes.size() * 8 + 1);
}

TEST(Share, TakesTheBytesWithoutACopy) {
  Bytes bytes(1000, std::byte{3});
  const std::byte* const data = bytes.data();
  EXPECT_EQ(share(std::move(bytes))->data(), data);
}

}  // namespace
}  // namespace hourglass
