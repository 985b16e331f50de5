// SPDX-License-Identifier: Apache-2.0
// Whatever connects to a listening port, the actor behind it goes on, and the counters tell what came.
#include <gtest/gtest.h>

#include <map>

#include "messages/hello.h"
#include "runtime/zmq/identity.h"
#include "tests/runtime/foreign_dealer.h"
#include "tests/runtime/raw_tcp.h"
#include "tests/runtime/socket_process.h"

namespace hourglass {
namespace {

constexpr ActorId kWorker{Role::conv_worker, 0xabcdef01}, kOther{Role::conv_worker, 2};

class HostilePeers : public testing::Test {
 protected:
  HostilePeers() {
    zmq::ZmqOptions options = loopback_options(kAggregator);
    options.log = [this](Severity, std::string_view event, const Fields& fields) {
      const std::lock_guard lock(log_mutex_);
      ++lines_[std::string(event)];
      for (const auto& [name, value] : fields) {
        if (name == "peer") log_peers_.push_back(value);
      }
    };
    aggregator_ = std::make_unique<SocketProcess>(options);
  }
  /// An honest process is served.
  void expect_service() {
    SocketProcess worker(loopback_options(kWorker, aggregator_->endpoint()));
    const double before = aggregator_->metric("received.batch.payload");
    worker.act([](Context& context) { ASSERT_TRUE(context.post(kAggregator, filler(100, Traffic::batch)).ok()); });
    EXPECT_TRUE(aggregator_->wait_for_metric("received.batch.payload", before + 100));
    aggregator_->act([](Context& context) { ASSERT_TRUE(context.post(kWorker, filler(50)).ok()); });
    EXPECT_TRUE(worker.wait([](const RecordingActor& actor) { return actor.received.size() == 1; }));
  }
  std::size_t received() {
    std::size_t number = 0;
    aggregator_->look([&number](const RecordingActor& actor) { number = actor.received.size(); });
    return number;
  }

  std::mutex log_mutex_;
  std::map<std::string, int> lines_;  ///< by event
  std::vector<std::string> log_peers_;
  std::unique_ptr<SocketProcess> aggregator_;
};

std::string random_bytes(std::size_t size, std::uint64_t seed) {
  Random random(seed);
  std::string out(size, '\0');
  for (char& c : out) c = static_cast<char>(random.next());
  return out;
}

TEST_F(HostilePeers, N1_ForeignProtocolsAreRejectedAndCounted) {
  const std::vector<std::string> greetings = {"GET / HTTP/1.1\r\nHost: example\r\n\r\n", "hello?\r\n", random_bytes(1 << 20, 1),
                                              std::string("\xff\x00\x00\x00\x00\x00\x00\x00\x01\x7f", 10) + random_bytes(500, 2), ""};
  double tries = 0;
  for (int round = 0; round < 3; ++round) {
    for (const std::string& greeting : greetings) {
      const RawTcp client = RawTcp::connect(aggregator_->port());
      ASSERT_TRUE(client.ok());
      client.send(greeting);
      ++tries;
    }
  }
  EXPECT_TRUE(aggregator_->wait_for_metric("rejected.connections", tries));
  expect_service();
  EXPECT_TRUE(aggregator_->wait_for_metric("connected", 1));
  EXPECT_EQ(aggregator_->metric("connected"), 1);
  EXPECT_EQ(aggregator_->metric("rejected.connections"), tries) << "the honest one is not among them";
  const std::lock_guard lock(log_mutex_);
  EXPECT_EQ(lines_["connection rejected"], 1) << "once a minute";
}

TEST_F(HostilePeers, N1_SilentConnectionsAreHungUpOn) {
  const RawTcp silent = RawTcp::connect(aggregator_->port());
  ASSERT_TRUE(silent.ok());
  expect_service();  // meanwhile
  EXPECT_TRUE(silent.closed_within(60'000));
  EXPECT_TRUE(aggregator_->wait_for_metric("rejected.connections", 1));
}

TEST_F(HostilePeers, N2_MessagesOfAnyOtherNumberOfFramesAreDropped) {
  Dealer dealer(aggregator_->endpoint());
  dealer.send({"junk"});
  dealer.send({""});
  dealer.send({"1", "2", "3"});
  dealer.send(std::vector<std::string>(100, "x"));
  dealer.send(std::vector<std::string>(10'000, "y"));
  EXPECT_TRUE(aggregator_->wait_for_metric("rejected.frames", 5));
  expect_service();
  EXPECT_EQ(aggregator_->metric("rejected.frames"), 5);
  const std::lock_guard lock(log_mutex_);
  EXPECT_EQ(lines_["message dropped"], 1) << "once a minute for each peer";
  ASSERT_FALSE(log_peers_.empty());
  EXPECT_EQ(log_peers_.front(), "127.0.0.1");
}

TEST_F(HostilePeers, N2_HeadersThatAreNotOursAreDropped) {
  const std::string body(100, 'b');
  const std::string good = header_for(kWorker, body.size());
  std::string flipped = good, version = good;
  flipped[20] = static_cast<char>(flipped[20] ^ 1);
  Dealer dealer(aggregator_->endpoint(), zmq::encode({zmq::Line::messages, kWorker}));
  dealer.send({"", ""});
  dealer.send({good.substr(0, 31), body});
  dealer.send({good, body.substr(0, 60)});  // cut
  dealer.send({flipped, body});
  dealer.send({std::string(32, '\0'), body});
  EXPECT_TRUE(aggregator_->wait_for_metric("rejected.header", 5));
  dealer.send({header_for(kWorker, body.size(), static_cast<MessageType>(200)), body});
  EXPECT_TRUE(aggregator_->wait_for_metric("rejected.type", 1));
  EXPECT_EQ(received(), 0U);
  dealer.send({good, body});
  EXPECT_TRUE(aggregator_->wait([](const RecordingActor& actor) { return actor.received.size() == 1; })) << "the connection itself is fine";
}

TEST_F(HostilePeers, NobodySpeaksInAnothersName) {
  const std::string body = "b";
  Dealer nameless(aggregator_->endpoint());
  nameless.send({header_for(kWorker, 1), body});
  Dealer other(aggregator_->endpoint(), zmq::encode({zmq::Line::messages, kOther}));
  other.send({header_for(kWorker, 1), body});
  Dealer same_as_us(aggregator_->endpoint(), zmq::encode({zmq::Line::messages, kAggregator}));
  same_as_us.send({header_for(kAggregator, 1), body});
  Dealer heart(aggregator_->endpoint(), zmq::encode({zmq::Line::heartbeats, kWorker}));
  heart.send({header_for(kWorker, 1), body});  // a heartbeat's line carries nothing else
  EXPECT_TRUE(aggregator_->wait_for_metric("refused.identity", 4));
  EXPECT_EQ(received(), 0U);
  expect_service();
}

TEST_F(HostilePeers, AnswersInAnothersNameAreRefusedToo) {
  const ActorId third{Role::conv_worker, 3};
  SocketProcess worker(loopback_options(kWorker, aggregator_->endpoint()));
  SocketProcess impostor(loopback_options(third, aggregator_->endpoint()));
  const std::string there = impostor.endpoint();
  worker.act([&there](Context& context) {
    context.introduce(kOther, there);
    ASSERT_TRUE(context.post(kOther, filler(1)).ok());
  });
  EXPECT_TRUE(impostor.wait([](const RecordingActor& actor) { return !actor.received.empty(); }));
  impostor.act([](Context& context) { ASSERT_TRUE(context.post(kWorker, filler(1)).ok()); });
  EXPECT_TRUE(worker.wait_for_metric("refused.identity", 1));
}

/// Decodes what it gets.
struct Decoder final : Handles<Decoder, Hello> {
  void on(Context&, ActorId, Hello&&) {}
};

TEST(HostileBodies, N3_N5_BombsAreRejectedByTheDecoder) {
  zmq::StopFlag stop;
  zmq::ZmqOptions options = loopback_options(kAggregator);
  options.stop = &stop;
  auto created = zmq::ZmqReactor::create(options);
  ASSERT_TRUE(created.ok());
  zmq::ZmqReactor& reactor = **created;
  reactor.host(kAggregator, std::make_unique<Decoder>());
  Dealer dealer(reactor.bound_endpoint(), zmq::encode({zmq::Line::messages, kWorker}));
  const std::vector<std::string> bombs = {std::string("\xdd\xff\x00\x00\x00", 5), std::string("\xdf\x7f\xff\xff\xff", 5),
                                          std::string("\xc6\xff\xff\xff\xff\x01\x02", 7), std::string(1 << 20, '\x91'), std::string()};
  for (const std::string& bomb : bombs) dealer.send({header_for(kWorker, bomb.size(), MessageType::hello), bomb});
  const auto deadline = std::chrono::steady_clock::now() + SocketProcess::kLongTime;
  while (reactor.metrics().value("malformed.hello") < 5 && std::chrono::steady_clock::now() < deadline) {
    ASSERT_TRUE(reactor.step(std::chrono::milliseconds(10)));
  }
  EXPECT_EQ(reactor.metrics().value("malformed.hello"), 5);
}

}  // namespace
}  // namespace hourglass
