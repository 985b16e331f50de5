// SPDX-License-Identifier: Apache-2.0
#include "base/archive.h"

#include <gtest/gtest.h>

namespace hourglass {
namespace {

Bytes example() {
  ArchiveWriter out;
  out.put(std::uint32_t{7});
  out.put(2.5);
  out.put_text("name");
  const std::vector<float> values = {1, 2, 3};
  out.put_all(std::span<const float>(values));
  out.put_bytes(as_span("raw"));
  out.put(true);
  return out.take();
}

struct Read {
  std::uint32_t number = 0;
  double real = 0;
  std::string text;
  std::vector<float> values;
  Bytes raw;
  bool flag = false;
  bool complete = false;
};

Read read(std::span<const std::byte> bytes) {
  ArchiveReader in(bytes);
  Read out;
  in.get(out.number);
  in.get(out.real);
  out.text = in.get_text();
  out.values = in.get_all<float>();
  out.raw = in.get_bytes();
  out.flag = in.get<bool>();
  out.complete = in.complete();
  return out;
}

TEST(Archive, WhatWasPutIsTakenInTheSameOrder) {
  const Read got = read(example());
  EXPECT_TRUE(got.complete);
  EXPECT_EQ(got.number, 7U);
  EXPECT_EQ(got.real, 2.5);
  EXPECT_EQ(got.text, "name");
  EXPECT_EQ(got.values, (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(as_text(got.raw), "raw");
  EXPECT_TRUE(got.flag);
}

TEST(Archive, EveryCutIsNoticedAndNothingIsReadBeyondIt) {
  const Bytes whole = example();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(read(std::span(whole).first(size)).complete) << size;
  }
  Bytes longer = whole;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(read(longer).complete) << "bytes are left";
}

TEST(Archive, AnImpossibleCountAllocatesNothing) {
  ArchiveWriter out;
  out.put(~std::uint64_t{0});
  const Bytes bytes = out.take();
  ArchiveReader in(bytes);
  EXPECT_TRUE(in.get_all<double>().empty());
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.get<std::uint32_t>(), 0U) << "once failed, zero";
}

TEST(Archive, VectorsOfAGivenSizeAndNumbersOfAGivenRange) {
  ArchiveWriter out;
  const std::vector<float> two = {1, 2};
  out.put_all(std::span<const float>(two));
  out.put(std::uint8_t{9});
  const Bytes bytes = out.take();
  std::vector<float> three(3, 5.0F);
  ArchiveReader wrong(bytes);
  wrong.get_into(three);
  EXPECT_FALSE(wrong.ok());
  EXPECT_EQ(three, std::vector<float>(3, 5.0F)) << "nothing changed";
  std::vector<float> fits(2);
  ArchiveReader right(bytes);
  right.get_into(fits);
  EXPECT_EQ(fits, two);
  EXPECT_EQ(right.get_up_to<std::uint8_t>(9), 9);
  EXPECT_TRUE(right.complete());
  ArchiveReader high(bytes);
  high.get_into(fits);
  EXPECT_EQ(high.get_up_to<std::uint8_t>(8), 0);
  EXPECT_FALSE(high.ok());
}

}  // namespace
}  // namespace hourglass
