// SPDX-License-Identifier: Apache-2.0
#include "messages/elements.h"

#include <gtest/gtest.h>

#include <string>

namespace hourglass {
namespace {

/// Encodes as UTF-8 by its definition, surrogates too.
std::string utf8(std::uint32_t code) {
  const auto tail = [](std::uint32_t bits) { return static_cast<char>(0x80 | (bits & 0x3f)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xc0 | code >> 6), tail(code)};
  if (code < 0x10000) return {static_cast<char>(0xe0 | code >> 12), tail(code >> 6), tail(code)};
  return {static_cast<char>(0xf0 | code >> 18), tail(code >> 12), tail(code >> 6), tail(code)};
}

TEST(CleanText, IsDecidedForEveryCodePoint) {
  for (std::uint32_t code = 0; code < 0x1fffff; ++code) {
    const bool control = (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7f && code < 0xa0);
    const bool surrogate = code >= 0xd800 && code <= 0xdfff;
    ASSERT_EQ(is_clean_text(utf8(code)), !control && !surrogate && code <= 0x10ffff) << code;
  }
}

TEST(CleanText, RefusesEveryByteThatStandsWrong) {
  for (int byte = 0x80; byte < 0x100; ++byte) {
    EXPECT_FALSE(is_clean_text(std::string{static_cast<char>(byte)})) << byte;
    EXPECT_FALSE(is_clean_text(std::string{static_cast<char>(byte), 'a'})) << byte;
    EXPECT_FALSE(is_clean_text(std::string{'a', static_cast<char>(byte)})) << byte;
  }
}

TEST(CleanText, RefusesTruncatedAndOverlongForms) {
  for (const std::uint32_t code : {0xe9U, 0x6642U, 0x1f31fU}) {
    const std::string whole = utf8(code);
    for (std::size_t size = 1; size < whole.size(); ++size) {
      EXPECT_FALSE(is_clean_text(whole.substr(0, size)));
      EXPECT_FALSE(is_clean_text(whole.substr(0, size) + "a"));
    }
    EXPECT_TRUE(is_clean_text("a" + whole + "b"));
  }
  EXPECT_FALSE(is_clean_text("\xc0\xaf"));
  EXPECT_FALSE(is_clean_text("\xc1\xbf"));
  EXPECT_FALSE(is_clean_text("\xe0\x9f\xbf"));
  EXPECT_FALSE(is_clean_text("\xf0\x8f\xbf\xbf"));
  EXPECT_FALSE(is_clean_text("\xf5\x80\x80\x80"));
}

TEST(CleanText, AcceptsNothingAndLayout) {
  EXPECT_TRUE(is_clean_text(""));
  EXPECT_TRUE(is_clean_text("two\tcolumns\nand a line"));
  EXPECT_FALSE(is_clean_text(std::string_view("a\0b", 3)));
}

}  // namespace
}  // namespace hourglass
