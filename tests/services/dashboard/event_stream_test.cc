// SPDX-License-Identifier: Apache-2.0
#include "services/dashboard/event_stream.h"

#include <gtest/gtest.h>

namespace hourglass {
namespace {

TEST(EventStream, DropsTheOldestAndCounts) {
  http::EventStream stream;
  const auto event = [](char c) { return std::make_shared<const std::string>(1, c); };
  int dropped = 0;
  for (char c = 'a'; c <= 'z'; ++c) dropped += stream.push(event(c)) ? 1 : 0;
  EXPECT_EQ(stream.waiting(), http::EventStream::kWaitingMax);
  EXPECT_EQ(dropped, 26 - static_cast<int>(http::EventStream::kWaitingMax));
  char bytes[64];
  std::size_t count = 0;
  EXPECT_EQ(stream.read(bytes, count, [] {}), http::EventStream::Read::some);
  EXPECT_EQ(std::string(bytes, count), "stuvwxyz");
}

TEST(EventStream, AnEventThatIsBeingSentIsNeverCut) {
  http::EventStream stream;
  stream.push(std::make_shared<const std::string>("0123456789"));
  char bytes[4];
  std::size_t count = 0;
  (void)stream.read(bytes, count, [] {});
  std::string got(bytes, count);
  for (int i = 0; i < 50; ++i) stream.push(std::make_shared<const std::string>("x"));
  while (stream.read(bytes, count, [] {}) == http::EventStream::Read::some) got.append(bytes, count);
  EXPECT_EQ(got, "0123456789" + std::string(http::EventStream::kWaitingMax, 'x'));
}

TEST(EventStream, WakesAPausedReaderOnce) {
  http::EventStream stream;
  int paused = 0, resumed = 0;
  stream.on_ready([&] { ++resumed; });
  char bytes[4];
  std::size_t count = 0;
  EXPECT_EQ(stream.read(bytes, count, [&] { ++paused; }), http::EventStream::Read::pause);
  stream.push(std::make_shared<const std::string>("a"));
  stream.push(std::make_shared<const std::string>("b"));
  EXPECT_EQ(paused, 1);
  EXPECT_EQ(resumed, 1);
  stream.close();
  EXPECT_EQ(stream.read(bytes, count, [&] { ++paused; }), http::EventStream::Read::end);
}

}  // namespace
}  // namespace hourglass
