// SPDX-License-Identifier: Apache-2.0
#include "services/dashboard/board.h"

#include <gtest/gtest.h>

namespace hourglass {
namespace {

std::shared_ptr<const DashboardState> state_of(std::uint64_t sequence) {
  auto state = std::make_shared<DashboardState>();
  state->sequence = sequence;
  state->series = std::make_shared<const Series>();
  return state;
}

std::string read_all(http::EventStream& stream) {
  std::string out;
  char bytes[512];
  std::size_t count = 0;
  while (stream.read(bytes, count, [] {}) == http::EventStream::Read::some) out.append(bytes, count);
  return out;
}

TEST(Board, ASubscriberMissesNothingAndSeesNothingTwice) {
  Board board;
  board.publish(state_of(1));
  const auto stream = board.subscribe();
  board.publish(state_of(2));
  const std::string text = read_all(*stream);
  EXPECT_EQ(text.find("retry: 2000\n\nid: 1\nevent: snapshot\n"), 0U);
  EXPECT_NE(text.find("\n\nid: 2\nevent: state\n"), std::string::npos);
  EXPECT_EQ(text.find("id: 1\nevent: state"), std::string::npos);
}

TEST(Board, StreamsAreLimitedAndTheirPlacesComeFree) {
  Board board;
  std::vector<std::shared_ptr<http::EventStream>> streams;
  for (std::size_t i = 0; i < Board::kStreamsMax; ++i) streams.push_back(board.subscribe());
  EXPECT_EQ(board.subscribe(), nullptr);
  streams.pop_back();
  EXPECT_NE(board.subscribe(), nullptr);
}

TEST(Board, CountsWhatSlowReadersMiss) {
  Board board;
  const auto stream = board.subscribe();
  for (std::uint64_t i = 1; i <= 20; ++i) board.publish(state_of(i));
  EXPECT_EQ(board.events_dropped(), 22 - http::EventStream::kWaitingMax);  // retry and snapshot were waiting too
  EXPECT_NE(read_all(*stream).find("id: 20\n"), std::string::npos);
}

TEST(Board, KeepsStreamsAliveAndEndsThem) {
  Board board;
  const auto stream = board.subscribe();
  board.keep_alive();
  EXPECT_TRUE(read_all(*stream).ends_with(": keep-alive\n\n"));
  board.close();
  EXPECT_EQ(board.subscribe(), nullptr);
  char bytes[8];
  std::size_t count = 0;
  EXPECT_EQ(stream->read(bytes, count, [] {}), http::EventStream::Read::end);
}

}  // namespace
}  // namespace hourglass
