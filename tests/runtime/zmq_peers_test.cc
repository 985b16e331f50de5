// SPDX-License-Identifier: Apache-2.0
// Peers that die, come back, take names over or fall silent.
#include <gtest/gtest.h>

#include <algorithm>
#include <zmq.hpp>

#include "runtime/zmq/identity.h"
#include "tests/runtime/raw_tcp.h"
#include "tests/runtime/socket_process.h"

namespace hourglass {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr ActorId kWorker{Role::conv_worker, 0xabcdef01};

void post(SocketProcess& process, ActorId to, std::size_t bytes) {
  process.act([&](Context& context) {
    const Status sent = context.post(to, filler(bytes));
    ASSERT_TRUE(sent.ok()) << sent.error().text;
  });
}

bool wait_for_size(SocketProcess& process, std::size_t bytes) {
  return process.wait([bytes](const RecordingActor& actor) {
    return std::ranges::any_of(actor.received, [bytes](const Envelope& e) { return e.body->size() == bytes; });
  });
}

/// Posts until it is accepted: the way to the peer is on its way.
void post_when_reachable(SocketProcess& process, ActorId to, std::size_t bytes) {
  const auto deadline = std::chrono::steady_clock::now() + SocketProcess::kLongTime;
  bool posted = false;
  while (!posted && std::chrono::steady_clock::now() < deadline) {
    process.act([&](Context& context) { posted = context.post(to, filler(bytes)).ok(); });
  }
  ASSERT_TRUE(posted);
}

TEST(ZmqPeers, R1_ARestartedPeerTakesItsNameBackWhileItsOldConnectionStillStands) {
  SocketProcess aggregator(loopback_options(kAggregator));
  // The earlier life's connection: its process is gone for good, but nobody has told us.
  ::zmq::context_t context;
  ::zmq::socket_t ghost(context, ::zmq::socket_type::dealer);
  ghost.set(::zmq::sockopt::linger, 0);
  ghost.set(::zmq::sockopt::routing_id, zmq::encode({zmq::Line::messages, kWorker}));
  ghost.connect(aggregator.endpoint());
  post_when_reachable(aggregator, kWorker, 10);
  for (std::size_t life = 1; life <= 3; ++life) {
    SocketProcess worker(loopback_options(kWorker, aggregator.endpoint()));
    post(worker, kAggregator, life);
    ASSERT_TRUE(wait_for_size(aggregator, life));
    post(aggregator, kWorker, 100 + life);
    ASSERT_TRUE(wait_for_size(worker, 100 + life)) << "life " << life;
  }
}

TEST(ZmqPeers, ARestartedAggregatorIsFoundAgain) {
  auto aggregator = std::make_unique<SocketProcess>(loopback_options(kAggregator));
  zmq::ZmqOptions same_place = loopback_options(kAggregator);
  same_place.bind = aggregator->endpoint();
  zmq::ZmqOptions options = loopback_options(kWorker, aggregator->endpoint());
  options.heartbeat_interval = milliseconds(100);
  SocketProcess worker(options);
  post(worker, kAggregator, 1);
  ASSERT_TRUE(wait_for_size(*aggregator, 1));
  aggregator.reset();
  ASSERT_TRUE(worker.wait_for_metric("disconnected", 2));  // messages' and heartbeats' line
  post(worker, kAggregator, 2);
  aggregator = std::make_unique<SocketProcess>(same_place);
  // A connection may break after it took a message and before it sent it: senders repeat what is not answered, and a repeat arrives.
  const auto arrived = [](const RecordingActor& actor) {
    return std::ranges::any_of(actor.received, [](const Envelope& e) { return e.body->size() == 2; });
  };
  bool received = aggregator->wait(arrived, seconds(1));
  const auto deadline = std::chrono::steady_clock::now() + SocketProcess::kLongTime;
  while (!received && std::chrono::steady_clock::now() < deadline) {
    worker.act([](Context& context) { (void)context.post(kAggregator, filler(2)); });
    received = aggregator->wait(arrived, seconds(1));
  }
  EXPECT_TRUE(received);
  post_when_reachable(*aggregator, kWorker, 3);
  EXPECT_TRUE(wait_for_size(worker, 3));
  EXPECT_TRUE(aggregator->wait([](const RecordingActor& actor) {
    return std::ranges::any_of(actor.received, [](const Envelope& e) { return e.type == MessageType::heartbeat; });
  }));
}

TEST(ZmqPeers, ASocketThatZeroMqGaveUpIsMadeAnew) {
  SocketProcess aggregator(loopback_options(kAggregator));
  zmq::ZmqOptions options = loopback_options(kWorker, aggregator.endpoint());
  options.message_bytes_max = 1 << 20;
  options.silence_max = milliseconds(500);
  SocketProcess worker(options);
  post(worker, kAggregator, 1);
  ASSERT_TRUE(wait_for_size(aggregator, 1));
  post(aggregator, kWorker, 10);
  ASSERT_TRUE(wait_for_size(worker, 10));  // it owes nothing now
  // A frame above the limit, arriving at the connecting side, ends the connection, and ZeroMQ never tries again.
  post(aggregator, kWorker, 2 << 20);
  ASSERT_TRUE(worker.wait_for_metric("disconnected", 1));
  EXPECT_EQ(worker.metric("socket.recreated"), 0);
  post(worker, kAggregator, 2);
  EXPECT_TRUE(worker.wait_for_metric("socket.recreated", 1));
  EXPECT_TRUE(wait_for_size(aggregator, 2));
  post(aggregator, kWorker, 3);
  EXPECT_TRUE(wait_for_size(worker, 3));
  EXPECT_EQ(worker.metric("retried"), 0) << "it was not ZeroMQ that came back";
}

TEST(ZmqPeers, MonitorsMayBeSilent) {
  const ActorId monitor{Role::monitor, 5};
  const RawTcp nobody = RawTcp::listen(), nobody_else = RawTcp::listen();
  zmq::ZmqOptions options = loopback_options(kAggregator);
  options.silence_max = milliseconds(1);
  SocketProcess aggregator(options);
  aggregator.act([&](Context& context) {
    context.introduce(monitor, "127.0.0.1:" + std::to_string(nobody.port()));
    context.introduce(kWorker, "127.0.0.1:" + std::to_string(nobody_else.port()));
    ASSERT_TRUE(context.post(monitor, filler(1)).ok());
    ASSERT_TRUE(context.post(kWorker, filler(1)).ok());
  });
  EXPECT_TRUE(aggregator.wait_for_metric("socket.recreated", 3));
  EXPECT_EQ(aggregator.metric("socket.recreated"), 3) << "one at a time: the worker's only";
}

TEST(ZmqPeers, R2_SocketsAndDescriptorsAreGivenBack) {
  const auto open_files = [](SocketProcess& process) {
    double value = 0;
    const double uptime = process.metric("uptime_seconds");
    EXPECT_TRUE(process.wait_for_metric("uptime_seconds", uptime + 0.1));  // a fresh look
    value = process.metric("open_files");
    return value;
  };
  SocketProcess aggregator(loopback_options(kAggregator));
  const RawTcp nobody = RawTcp::listen();
  const double before = open_files(aggregator);
  aggregator.act([&](Context& context) {
    for (std::uint32_t i = 0; i < 50; ++i) {
      context.introduce({Role::conv_worker, i}, "127.0.0.1:" + std::to_string(nobody.port()));
      context.forget({Role::conv_worker, i});
    }
  });
  const auto deadline = std::chrono::steady_clock::now() + SocketProcess::kLongTime;
  double after = open_files(aggregator);
  while (after > before + 2 && std::chrono::steady_clock::now() < deadline) after = open_files(aggregator);
  EXPECT_LE(after, before + 2) << "sockets, their watches and their connections";
}

TEST(ZmqPeers, S13_WithoutSocketsPeersAreRefusedAndTheProcessGoesOn) {
  SocketProcess aggregator(loopback_options(kAggregator));
  zmq::ZmqOptions options = loopback_options(kWorker, aggregator.endpoint());
  options.sockets_max = 16;
  SocketProcess worker(options);
  worker.act([](Context& context) {
    for (std::uint32_t i = 0; i < 8; ++i) context.introduce({Role::monitor, i}, "127.0.0.1:" + std::to_string(i + 1));
  });
  EXPECT_GE(worker.metric("refused.socket"), 3);
  EXPECT_LT(worker.metric("refused.socket"), 8);
  post(worker, kAggregator, 1);
  EXPECT_TRUE(wait_for_size(aggregator, 1));
  SocketProcess late(loopback_options({Role::fc_worker, 9}));
  const std::string there = late.endpoint();
  worker.act([](Context& context) {
    for (std::uint32_t i = 0; i < 8; ++i) context.forget({Role::monitor, i});
  });
  const auto deadline = std::chrono::steady_clock::now() + SocketProcess::kLongTime;
  bool posted = false;
  while (!posted && std::chrono::steady_clock::now() < deadline) {  // sockets are given back in the background
    worker.act([&](Context& context) {
      context.introduce({Role::fc_worker, 9}, there);
      posted = context.post({Role::fc_worker, 9}, filler(4)).ok();
    });
  }
  EXPECT_TRUE(wait_for_size(late, 4));
}

TEST(ZmqPeers, AnEndpointBelongsToWhoWasIntroducedThereLast) {
  const ActorId old_life{Role::fc_worker, 1}, new_life{Role::fc_worker, 2};
  SocketProcess aggregator(loopback_options(kAggregator));
  SocketProcess worker(loopback_options(kWorker, aggregator.endpoint()));
  SocketProcess fc(loopback_options(new_life, aggregator.endpoint()));
  const std::string there = fc.endpoint(), aggregators = aggregator.endpoint();
  worker.act([&](Context& context) {
    context.introduce(old_life, there);
    context.introduce(new_life, there);
    EXPECT_EQ(context.post(old_life, filler(1)).error().code, Errc::unreachable);
    context.introduce(old_life, aggregators);
    EXPECT_EQ(context.post(old_life, filler(1)).error().code, Errc::unreachable);
    ASSERT_TRUE(context.post(new_life, filler(2)).ok());
    ASSERT_TRUE(context.post(kAggregator, filler(3)).ok());
  });
  EXPECT_TRUE(wait_for_size(fc, 2));
  EXPECT_TRUE(wait_for_size(aggregator, 3));
  post(fc, kWorker, 4);
  post(aggregator, kWorker, 5);
  EXPECT_TRUE(wait_for_size(worker, 4));
  EXPECT_TRUE(wait_for_size(worker, 5));
}

TEST(ZmqPeers, AnAggregatorIsFoundByItsNameAndItsHeartbeatsToo) {
  SocketProcess aggregator(loopback_options(kAggregator));
  zmq::ZmqOptions options = loopback_options(kWorker, "localhost:" + std::to_string(aggregator.port()));
  options.heartbeat_interval = milliseconds(50);
  SocketProcess worker(options);
  post(worker, kAggregator, 7);
  EXPECT_TRUE(wait_for_size(aggregator, 7));
  EXPECT_TRUE(aggregator.wait([](const RecordingActor& actor) {
    return std::ranges::any_of(actor.received, [](const Envelope& e) { return e.type == MessageType::heartbeat; });
  }));
  EXPECT_EQ(worker.metric("lookups_failed"), 0);
}

TEST(ZmqPeers, R10_ANameThatDoesNotResolveIsNamedAndTheOthersAreServed) {
  std::mutex mutex;
  std::string complaint;
  SocketProcess aggregator(loopback_options(kAggregator));
  zmq::ZmqOptions options = loopback_options(kWorker, aggregator.endpoint());
  options.log = [&](Severity, std::string_view event, const Fields& fields) {
    const std::lock_guard lock(mutex);
    if (event == "a name that does not resolve") complaint = fields.at(1).second;
  };
  SocketProcess worker(options);
  worker.act([](Context& context) {
    context.introduce({Role::fc_worker, 9}, "no-such-host.invalid:7000");
    EXPECT_TRUE(context.post({Role::fc_worker, 9}, filler(1)).ok()) << "it waits for the name";
  });
  for (std::size_t i = 1; i <= 100; ++i) post(worker, kAggregator, i);
  EXPECT_TRUE(wait_for_size(aggregator, 100));
  EXPECT_TRUE(worker.wait_for_metric("lookups_failed", 2)) << "it is looked up again";
  const std::lock_guard lock(mutex);
  EXPECT_EQ(complaint.rfind("no-such-host.invalid: ", 0), 0U) << complaint;
}

TEST(ZmqPeers, EndpointsThatCannotBeAreRefusedAndCounted) {
  SocketProcess aggregator(loopback_options(kAggregator));
  aggregator.act([](Context& context) {
    for (const char* bad : {"ipc:///tmp/x", "tcp://*:5", "nowhere", "tcp://a b:1", "tcp://127.0.0.1:0", "tcp://1.2.3.4:99999"}) {
      context.introduce(kWorker, bad);
    }
  });
  EXPECT_EQ(aggregator.metric("refused.endpoint"), 6);
}

}  // namespace
}  // namespace hourglass
