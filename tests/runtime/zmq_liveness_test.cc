// SPDX-License-Identifier: Apache-2.0
// Heartbeats, what a process tells about itself, and how it stops.
#include <gtest/gtest.h>

#include <pthread.h>
#include <signal.h>

#include "messages/heartbeat.h"
#include "tests/runtime/raw_tcp.h"
#include "tests/runtime/socket_process.h"

namespace hourglass {
namespace {

using std::chrono::milliseconds;

constexpr ActorId kWorker{Role::conv_worker, 0xabcdef01};

TEST(ZmqLiveness, TheHeartsSocketIsMadeAnewToo) {
  std::optional<RawTcp> listener = RawTcp::listen();
  const std::string endpoint = "tcp://127.0.0.1:" + std::to_string(listener->port());
  zmq::ZmqOptions options = loopback_options(kWorker, endpoint);
  options.heartbeat_interval = milliseconds(50);
  options.silence_max = milliseconds(100);
  SocketProcess worker(options);
  EXPECT_TRUE(worker.wait_for_metric("socket.recreated", 2));
  listener.reset();
  zmq::ZmqOptions real = loopback_options(kAggregator);
  real.bind = endpoint;
  SocketProcess aggregator(real);
  EXPECT_TRUE(aggregator.wait([](const RecordingActor& actor) { return actor.received.size() >= 2; }));
}

TEST(ZmqLiveness, R7_HeartsBeatWhileTheActorComputes) {
  SocketProcess aggregator(loopback_options(kAggregator));
  std::atomic<bool> seen{false};
  zmq::ZmqOptions options = loopback_options(kWorker, aggregator.endpoint());
  options.heartbeat_interval = milliseconds(250);
  SocketProcess worker(options, [&seen](RecordingActor& actor) {
    actor.on_start = [](Context& context) { context.wake_after(milliseconds(1500), 1); };
    actor.on_wake = [&seen](Context&, std::uint32_t) {  // computes until the aggregator has noticed, three seconds and more
      const auto deadline = std::chrono::steady_clock::now() + SocketProcess::kLongTime;
      while (!seen.load() && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(milliseconds(1));
    };
  });
  const auto newest_age = [](const RecordingActor& actor) {
    const auto heartbeat = decode<Heartbeat>(*actor.received.back().body);
    return heartbeat.ok() ? heartbeat->progress_age_ms : 0;
  };
  ASSERT_TRUE(aggregator.wait([&](const RecordingActor& actor) { return !actor.received.empty(); }));
  aggregator.look([&](const RecordingActor& actor) { EXPECT_LT(newest_age(actor), 1000U) << "it only waits for messages"; });
  EXPECT_TRUE(aggregator.wait([&](const RecordingActor& actor) { return newest_age(actor) >= 3000; }));
  std::size_t beats = 0;
  aggregator.look([&beats](const RecordingActor& actor) {
    beats = actor.received.size();
    for (const Envelope& envelope : actor.received) EXPECT_EQ(envelope.from, kWorker);
  });
  EXPECT_GE(beats, 6U);
  seen.store(true);
  EXPECT_TRUE(aggregator.wait([&](const RecordingActor& actor) { return newest_age(actor) < 1000; }));
}

TEST(ZmqLiveness, WhatIsSentByHeartsIsCounted) {
  SocketProcess aggregator(loopback_options(kAggregator));
  zmq::ZmqOptions options = loopback_options(kWorker, aggregator.endpoint());
  options.heartbeat_interval = milliseconds(20);
  SocketProcess worker(options);
  ASSERT_TRUE(worker.wait_for_metric("sent.messages", 5));
  EXPECT_GT(worker.metric("sent.control.payload"), 0);
  EXPECT_GE(worker.metric("sent.control.socket"), worker.metric("sent.control.payload") + 5 * 36);
  EXPECT_TRUE(aggregator.wait_for_metric("received.messages", 5));
}

TEST(ZmqLiveness, ProcessGaugesAreSet) {
  SocketProcess aggregator(loopback_options(kAggregator));
  EXPECT_TRUE(aggregator.wait_for_metric("uptime_seconds", 1e-9));
  EXPECT_GT(aggregator.metric("rss_bytes"), 1e6);
  EXPECT_GT(aggregator.metric("open_files"), 3);
  EXPECT_GT(aggregator.metric("cpu_seconds"), 0);
}

zmq::StopFlag* signalled = nullptr;

TEST(ZmqSignals, SigtermStopsAndOtherSignalsDoNot) {
  zmq::StopFlag stop;
  signalled = &stop;
  struct sigaction terminate {
  }, ignore{};
  terminate.sa_handler = [](int) { signalled->request(); };
  ignore.sa_handler = [](int) {};
  struct sigaction old_terminate {
  }, old_user{};
  sigaction(SIGTERM, &terminate, &old_terminate);
  sigaction(SIGUSR1, &ignore, &old_user);

  zmq::ZmqOptions options = loopback_options(kAggregator);
  options.stop = &stop;
  auto created = zmq::ZmqReactor::create(options);
  ASSERT_TRUE(created.ok());
  auto actor = std::make_unique<RecordingActor>();
  int stops = 0, wakes = 0;
  std::atomic<bool> running{false};
  actor->on_start = [](Context& context) { context.wake_after(Duration::zero(), 1); };
  actor->on_wake = [&](Context& context, std::uint32_t) {
    running.store(true);
    ++wakes;
    context.wake_after(milliseconds(1), 1);
  };
  actor->on_stop = [&stops](Context& context) {
    ++stops;
    context.exit(ExitCode::ok, "asked to");
  };
  (*created)->host(kAggregator, std::move(actor));
  const pthread_t loop = pthread_self();
  std::thread sender([&] {
    while (!running.load()) std::this_thread::yield();
    for (int i = 0; i < 200; ++i) {
      pthread_kill(loop, SIGUSR1);
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    pthread_kill(loop, SIGTERM);
  });
  EXPECT_EQ((*created)->run(), ExitCode::ok);
  sender.join();
  EXPECT_EQ(stops, 1);
  EXPECT_GT(wakes, 1);
  EXPECT_EQ((*created)->exit_reason(), "asked to");
  sigaction(SIGTERM, &old_terminate, nullptr);
  sigaction(SIGUSR1, &old_user, nullptr);
}

TEST(ZmqSignals, AnActorThatDoesNotStopIsEndedAfterTheLimit) {
  zmq::ZmqOptions options = loopback_options(kAggregator);
  options.stop_limit = milliseconds(100);
  SocketProcess process(options, [](RecordingActor& actor) { actor.on_stop = [](Context&) {}; });
  process.request_stop();
  const auto ending = process.wait_for_end();
  ASSERT_TRUE(ending.has_value());
  EXPECT_EQ(ending->code, ExitCode::temporary);
}

}  // namespace
}  // namespace hourglass
