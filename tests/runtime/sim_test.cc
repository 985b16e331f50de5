// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "messages/heartbeat.h"
#include "runtime/sim/sim_reactor.h"
#include "tests/runtime/recording_actor.h"

namespace hourglass::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr ActorId kA{Role::conv_worker, 1}, kB{Role::fc_worker, 2};

/// Two silent actors without heartbeats.
struct Pair {
  explicit Pair(std::uint64_t seed = 1, SimOptions options = {}) : reactor(seed, no_hearts(options)) {
    a = host(kA);
    b = host(kB);
    reactor.run_for(Duration::zero());
  }
  static SimOptions no_hearts(SimOptions options) {
    options.heartbeat_interval = Duration::zero();
    return options;
  }
  RecordingActor* host(ActorId id) {
    auto actor = std::make_unique<RecordingActor>();
    RecordingActor* raw = actor.get();
    reactor.host(id, std::move(actor));
    return raw;
  }
  Context& from_a() { return reactor.context_of(kA); }

  SimReactor reactor;
  RecordingActor *a, *b;
};

std::size_t body_for(std::size_t on_socket) { return on_socket - (socket_bytes(1000) - 1000); }

/// Random traffic among five actors over a bad network.
std::uint64_t random_run(std::uint64_t seed) {
  SimOptions options;
  options.link = {milliseconds(1), milliseconds(5), 0.1, 0.1};
  options.nic_bytes_per_second = 1e6;
  options.reorder = true;
  SimReactor reactor(seed, options);
  for (std::uint32_t i = 0; i < 5; ++i) {
    auto actor = std::make_unique<RecordingActor>();
    actor->on_start = [](Context& context) { context.wake_after(milliseconds(1), 0); };
    actor->on_wake = [](Context& context, std::uint32_t) {
      const ActorId to{Role::conv_worker, static_cast<std::uint32_t>(context.random().below(5))};
      EXPECT_TRUE(context.post(to, filler(context.random().below(2000))).ok());
      context.wake_after(milliseconds(static_cast<std::int64_t>(1 + context.random().below(10))), 0);
    };
    reactor.host({Role::conv_worker, i}, std::move(actor));
  }
  reactor.run_for(seconds(5));
  return reactor.trace_hash();
}

TEST(SimDeterminism, SameSeedSameRun) {
  EXPECT_EQ(random_run(7), random_run(7));
  EXPECT_NE(random_run(7), random_run(8));
}

TEST(SimNetwork, LatencyAndBandwidthAddUp) {
  SimOptions options;
  options.link.latency = milliseconds(10);
  options.nic_bytes_per_second = 1e6;
  Pair pair(1, options);
  const Parcel parcel = filler(body_for(5000));  // 5 ms on either NIC
  ASSERT_TRUE(pair.from_a().post(kB, parcel).ok());
  ASSERT_TRUE(pair.from_a().post(kB, parcel).ok());
  pair.reactor.run_for(seconds(1));
  ASSERT_EQ(pair.b->times.size(), 2U);
  EXPECT_EQ(pair.b->times[0].time_since_epoch(), milliseconds(15));  // received while it is still being sent
  EXPECT_EQ(pair.b->times[1].time_since_epoch(), milliseconds(20));  // queued on the sender's NIC
}

TEST(SimNetwork, ManySendersQueueOnTheReceiversNic) {
  SimOptions options;
  options.link.latency = milliseconds(1);
  options.nic_bytes_per_second = 1e6;
  Pair pair(1, options);
  for (std::uint32_t i = 0; i < 4; ++i) {
    const ActorId sender{Role::data_loader, i};
    pair.host(sender);
    ASSERT_TRUE(pair.reactor.context_of(sender).post(kB, filler(body_for(10'000))).ok());
  }
  pair.reactor.run_for(seconds(1));
  ASSERT_EQ(pair.b->times.size(), 4U);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(pair.b->times[static_cast<std::size_t>(i)].time_since_epoch(), milliseconds(11 + 10 * i));
}

TEST(SimNetwork, OrderIsKeptInSpiteOfJitterUnlessReorderingIsAskedFor) {
  for (const bool reorder : {false, true}) {
    SimOptions options;
    options.link.jitter = milliseconds(50);
    options.reorder = reorder;
    Pair pair(3, options);
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(pair.from_a().post(kB, filler(10)).ok());
    pair.reactor.run_for(seconds(1));
    ASSERT_EQ(pair.b->received.size(), 100U);
    const bool sorted = std::is_sorted(pair.b->received.begin(), pair.b->received.end(),
                                       [](const Envelope& x, const Envelope& y) { return x.sequence < y.sequence; });
    EXPECT_EQ(sorted, !reorder);
  }
}

TEST(SimNetwork, LossAndDuplicationFollowTheirProbabilities) {
  SimOptions options;
  options.link.loss = 0.25;
  Pair lossy(4, options);
  options.link.loss = 0.0;
  options.link.duplication = 0.25;
  Pair doubling(4, options);
  for (int i = 0; i < 4000; ++i) {
    ASSERT_TRUE(lossy.from_a().post(kB, filler(10)).ok());
    ASSERT_TRUE(doubling.from_a().post(kB, filler(10)).ok());
  }
  lossy.reactor.run_for(seconds(1));
  doubling.reactor.run_for(seconds(1));
  EXPECT_NEAR(static_cast<double>(lossy.b->received.size()), 3000, 150);
  EXPECT_NEAR(static_cast<double>(doubling.b->received.size()), 5000, 150);
}

TEST(SimNetwork, ATailMakesFewMessagesMuchLaterThanMost) {
  SimOptions options;
  options.link.latency = milliseconds(1);
  options.link.tail = milliseconds(100);
  options.link.reorder = true;
  Pair pair(5, options);
  for (int i = 0; i < 4000; ++i) ASSERT_TRUE(pair.from_a().post(kB, filler(10)).ok());
  pair.reactor.run_for(seconds(10));
  double sum = 0;
  int late = 0;
  for (const Instant at : pair.b->times) {
    sum += hourglass::seconds(at.time_since_epoch());
    late += at.time_since_epoch() > milliseconds(301) ? 1 : 0;
  }
  EXPECT_NEAR(sum / 4000, 0.101, 0.005);
  EXPECT_NEAR(late, 4000 * 0.0498, 45) << "e to the minus 3 of them";
}

TEST(SimNetwork, AClogHoldsBackWithoutLossAndOnlyOneWay) {
  Pair pair;
  pair.reactor.network().clog(kA, kB, Instant(seconds(3)));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(pair.from_a().post(kB, filler(1)).ok());
  ASSERT_TRUE(pair.reactor.context_of(kB).post(kA, filler(1)).ok());
  pair.reactor.run_for(seconds(2));
  EXPECT_EQ(pair.b->received.size(), 0U);
  EXPECT_EQ(pair.a->received.size(), 1U);
  pair.reactor.run_for(seconds(2));
  ASSERT_EQ(pair.b->received.size(), 3U);
  for (const Instant at : pair.b->times) EXPECT_EQ(at.time_since_epoch(), seconds(3));
}

TEST(SimNetwork, ACutMayBeOneWay) {
  Pair pair;
  pair.reactor.network().block_one_way(kA, kB);
  ASSERT_TRUE(pair.from_a().post(kB, filler(1)).ok());
  ASSERT_TRUE(pair.reactor.context_of(kB).post(kA, filler(1)).ok());
  pair.reactor.run_for(seconds(1));
  EXPECT_EQ(pair.b->received.size(), 0U);
  EXPECT_EQ(pair.a->received.size(), 1U);
  pair.reactor.network().heal_one_way(kA, kB);
  ASSERT_TRUE(pair.from_a().post(kB, filler(1)).ok());
  pair.reactor.run_for(seconds(1));
  EXPECT_EQ(pair.b->received.size(), 1U);
}

TEST(SimNetwork, ASlowMachineIsBusySoManyTimesAsLong) {
  Pair pair;
  pair.reactor.set_busy_time([](const Delivery&) -> Duration { return milliseconds(10); });
  pair.reactor.slow_down(kB, 5);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(pair.from_a().post(kB, filler(1)).ok());
  pair.reactor.run_for(seconds(1));
  ASSERT_EQ(pair.b->times.size(), 3U);
  EXPECT_EQ(pair.b->times[2] - pair.b->times[0], milliseconds(100));
}

TEST(SimTaps, APostTapSeesWhatIsRefusedToo) {
  SimOptions options;
  options.credit_bytes = 100;
  Pair pair(1, options);
  std::vector<bool> taken;
  pair.reactor.add_post_tap([&](const Delivery& delivery) { taken.push_back(delivery.taken); });
  EXPECT_TRUE(pair.from_a().post(kB, filler(80)).ok());
  EXPECT_FALSE(pair.from_a().post(kB, filler(80)).ok());
  EXPECT_EQ(taken, (std::vector<bool>{true, false}));
  EXPECT_EQ(pair.reactor.credit_used_max(), 80U);
}

TEST(SimClock, EachProcessCountsFromItsOwnStart) {
  Pair pair;
  pair.reactor.run_for(seconds(3));
  pair.reactor.crash(kB);
  pair.host(kB);
  pair.reactor.run_for(seconds(2));
  EXPECT_EQ(pair.from_a().now().time_since_epoch(), seconds(5));
  EXPECT_EQ(pair.reactor.context_of(kB).now().time_since_epoch(), seconds(2));
}

TEST(SimNetwork, PartitionLosesUntilItHeals) {
  Pair pair;
  ASSERT_TRUE(pair.from_a().post(kB, filler(1)).ok());
  pair.reactor.network().block(kA, kB);  // catches the first one under way
  ASSERT_TRUE(pair.from_a().post(kB, filler(2)).ok());
  pair.reactor.run_for(seconds(1));
  pair.reactor.network().heal(kA, kB);
  ASSERT_TRUE(pair.from_a().post(kB, filler(3)).ok());
  pair.reactor.run_for(seconds(1));
  ASSERT_EQ(pair.b->received.size(), 1U);
  EXPECT_EQ(pair.b->received[0].body->size(), 3U);
}

TEST(SimReactorTest, CreditComesBackWhenMessagesAreHandledOrLost) {
  SimOptions options;
  options.credit_bytes = 1000;
  options.link.loss = 1.0;
  Pair pair(1, options);
  EXPECT_TRUE(pair.from_a().post(kB, filler(5000)).ok()) << "alone, even a message above the credit goes";
  EXPECT_EQ(pair.from_a().post(kB, filler(1)).error().code, Errc::over_limit);
  pair.reactor.run_for(milliseconds(1));
  pair.reactor.network().set_default_link({});
  EXPECT_TRUE(pair.from_a().post(kB, filler(900)).ok());
  EXPECT_EQ(pair.from_a().post(kB, filler(200)).error().code, Errc::over_limit);
  pair.reactor.run_for(milliseconds(1));
  EXPECT_TRUE(pair.from_a().post(kB, filler(200)).ok());
  pair.reactor.hang(kB, seconds(10));
  pair.reactor.run_for(seconds(1));
  EXPECT_EQ(pair.from_a().post(kB, filler(900)).error().code, Errc::over_limit) << "not handled yet";
  pair.reactor.crash(kB);
  pair.host(kB);
  EXPECT_TRUE(pair.from_a().post(kB, filler(900)).ok()) << "the connection to the new life is a new one";
}

TEST(SimReactorTest, CrashLosesWhatTheNicHasNotBegunToSend) {
  SimOptions options;
  options.nic_bytes_per_second = 1e6;
  Pair pair(1, options);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(pair.from_a().post(kB, filler(body_for(10'000))).ok());
  pair.reactor.run_for(milliseconds(15));
  pair.reactor.crash(kA);
  EXPECT_FALSE(pair.reactor.live(kA));
  EXPECT_EQ(pair.reactor.exit_of(kA), nullptr);
  pair.reactor.run_for(seconds(1));
  EXPECT_EQ(pair.b->received.size(), 2U);
  EXPECT_EQ(pair.reactor.context_of(kB).post(kA, filler(1)).error().code, Errc::unreachable);
}

TEST(SimReactorTest, UnreachablePeersMaySwallowMessagesInstead) {
  SimOptions options;
  options.unreachable_is_silent = true;
  Pair pair(1, options);
  EXPECT_TRUE(pair.from_a().post({Role::monitor, 9}, filler(1)).ok());
}

TEST(SimReactorTest, IntroductionsAreAskedForOnlyWhenTheOptionSaysSo) {
  SimOptions options;
  options.introductions_required = true;
  Pair pair(1, options);
  EXPECT_EQ(pair.from_a().post(kB, filler(1)).error().code, Errc::unreachable);
  pair.reactor.context_of(kB).introduce(kA, "tcp://a:1");
  pair.reactor.context_of(kB).introduce(kA, "tcp://a:1");
  EXPECT_TRUE(pair.from_a().post(kB, filler(1)).ok()) << "who has connected to us needs no introduction";
  EXPECT_EQ(pair.reactor.metrics_of(kB).value("connected"), 1.0);
}

TEST(SimReactorTest, BusyActorsHandleNothingAndAnswerAtTheEnd) {
  Pair pair;
  pair.reactor.set_busy_time([](const Delivery& delivery) { return delivery.to == kB ? milliseconds(100) : milliseconds(0); });
  pair.b->on_receive = [](Context& context, const Envelope&) { ASSERT_TRUE(context.post(kA, filler(1)).ok()); };
  ASSERT_TRUE(pair.from_a().post(kB, filler(1)).ok());
  ASSERT_TRUE(pair.from_a().post(kB, filler(2)).ok());
  pair.reactor.run_for(seconds(1));
  const Duration latency = Link{}.latency;
  ASSERT_EQ(pair.b->times.size(), 2U);
  EXPECT_EQ(pair.b->times[0].time_since_epoch(), latency);
  EXPECT_EQ(pair.b->times[1].time_since_epoch(), latency + milliseconds(100));
  ASSERT_EQ(pair.a->times.size(), 2U);
  EXPECT_EQ(pair.a->times[0].time_since_epoch(), 2 * latency + milliseconds(100));
}

TEST(SimReactorTest, HeartsBeatWhileTheLoopHangsAndStopWhenTheProcessFreezes) {
  SimReactor reactor(1);
  auto actor = std::make_unique<RecordingActor>();
  RecordingActor* aggregator = actor.get();
  reactor.host(kAggregator, std::move(actor));
  reactor.host(kA, std::make_unique<RecordingActor>());
  reactor.run_for(milliseconds(1500));
  reactor.hang(kA, seconds(5));
  reactor.run_for(seconds(3));  // beats at 1, 2, 3, 4
  ASSERT_EQ(aggregator->received.size(), 4U);
  const auto newest = decode<Heartbeat>(*aggregator->received.back().body);
  ASSERT_TRUE(newest.ok());
  EXPECT_EQ(newest->progress_age_ms, 2500U);
  EXPECT_EQ(aggregator->received.back().from, kA);
  reactor.freeze(kA, seconds(3));  // 4.5 to 7.5
  reactor.run_for(seconds(3));
  EXPECT_EQ(aggregator->received.size(), 4U);
  reactor.run_for(seconds(1));
  EXPECT_EQ(aggregator->received.size(), 5U);
  reactor.network().block(kA, kAggregator);
  reactor.run_for(seconds(2));
  EXPECT_EQ(aggregator->received.size(), 5U);
}

TEST(SimReactorTest, StorageOutlivesTheActor) {
  Pair pair;
  const ActorId first{Role::data_loader, 1}, second{Role::data_loader, 2};
  pair.reactor.host(first, std::make_unique<RecordingActor>(), "loader");
  ASSERT_TRUE(pair.reactor.context_of(first).storage().write("state", as_span("one")).ok());
  ASSERT_TRUE(pair.reactor.context_of(first).storage().append("journal", as_span("ab")).ok());
  ASSERT_TRUE(pair.reactor.context_of(first).storage().append("journal", as_span("cd")).ok());
  pair.reactor.crash(first);
  pair.reactor.host(second, std::make_unique<RecordingActor>(), "loader");
  Storage& storage = pair.reactor.context_of(second).storage();
  EXPECT_EQ(as_text(*storage.read("state")), "one");
  EXPECT_EQ(as_text(*storage.read("journal")), "abcd");
  EXPECT_EQ(storage.read("nothing").error().code, Errc::bad_data);
  EXPECT_EQ(pair.from_a().storage().read("state").error().code, Errc::bad_data) << "each process has its own";
  pair.reactor.storage("loader").set_full(true);
  EXPECT_EQ(storage.write("state", as_span("two")).error().code, Errc::io);
  EXPECT_EQ(as_text(*storage.read("state")), "one");
}

TEST(SimReactorTest, TerminateAsksOnceAndThenInsists) {
  Pair pair;
  int asked = 0;
  pair.b->on_stop = [&asked](Context&) { ++asked; };
  pair.reactor.terminate(kA);
  pair.reactor.terminate(kB);
  pair.reactor.run_for(seconds(1));
  ASSERT_NE(pair.reactor.exit_of(kA), nullptr);
  EXPECT_EQ(pair.reactor.exit_of(kA)->code, ExitCode::ok);
  EXPECT_TRUE(pair.reactor.live(kB));
  pair.reactor.terminate(kB);
  EXPECT_EQ(asked, 1);
  ASSERT_NE(pair.reactor.exit_of(kB), nullptr);
  EXPECT_EQ(pair.reactor.exit_of(kB)->code, ExitCode::temporary);
  EXPECT_FALSE(pair.reactor.step(seconds(1))) << "nobody lives";
}

}  // namespace
}  // namespace hourglass::sim
