// SPDX-License-Identifier: Apache-2.0
#include "actors/monitor.h"

#include <gtest/gtest.h>

#include <cmath>

#include "actors/monitor_metrics.h"
#include "tests/actors/monitor_bench.h"

namespace hourglass {
namespace {
using namespace std::chrono_literals;

constexpr ActorId kConv{Role::conv_worker, 11}, kFc{Role::fc_worker, 12}, kLoader{Role::data_loader, 13}, kStranger{Role::conv_worker, 99};
constexpr std::uint64_t kRun = 77;

Member member(ActorId id, std::uint32_t number, bool active = true) {
  return {id, number, "host" + std::to_string(number), "tcp://10.0.0.1:1", active};
}

MetricReport report(std::uint64_t sequence, double uptime, std::vector<MetricValue> values, bool last = false) {
  return {sequence, uptime, last, std::move(values), {}, 0};
}

RunStatus status(Phase phase, double seconds) {
  RunStatus out;
  out.run = kRun;
  out.generation = 1;
  out.phase = phase;
  out.model = "mlp";
  out.dataset = "synthetic";
  out.seconds = seconds;
  out.samples_total = 1000;
  out.samples_done = 400;
  out.samples_per_second = 60;
  out.loss = 0.5;
  out.progress = 0.4;
  return out;
}

class MonitorTest : public testing::Test {
 protected:
  MonitorTest() : bench_(&sink_) { bench_.start(); }

  void join(std::uint32_t generation = 1, std::uint64_t run = kRun) {
    Welcome welcome;
    welcome.run = run;
    welcome.generation = generation;
    bench_.deliver(kAggregator, welcome);
  }
  void roster(std::vector<Member> members, std::uint32_t generation = 1) {
    members.push_back(member(MonitorBench::kSelf, 1));
    bench_.deliver(kAggregator, Roster{generation, ++revision_, std::move(members)});
  }
  void join_all() {
    join();
    roster({member(kConv, 1), member(kFc, 1), member(kLoader, 1)});
    bench_.deliver(kAggregator, RunPhase{1, Phase::training});
  }
  const DashboardState& state() { return *sink_.newest; }
  const ActorState* row(ActorId id) {
    for (const ActorState& actor : state().actors) {
      if (actor.id == id) return &actor;
    }
    return nullptr;
  }
  const TrafficState& traffic(Traffic kind) { return state().traffic[static_cast<std::size_t>(kind)]; }

  LastState sink_;
  MonitorBench bench_;
  std::uint64_t revision_ = 0;
};

TEST_F(MonitorTest, SaysHelloAndIsNotRegisteredBeforeWelcome) {
  ASSERT_FALSE(bench_.posted.empty());
  EXPECT_EQ(bench_.posted[0], std::make_pair(kAggregator, MessageType::hello));
  EXPECT_FALSE(state().registered);
  EXPECT_EQ(state().status, nullptr);
  join();
  bench_.advance(1s);
  EXPECT_TRUE(state().registered);
}

TEST_F(MonitorTest, PublishesOncePerSecondWithRisingSequence) {
  join_all();
  const std::size_t before = sink_.count;
  const std::uint64_t sequence = state().sequence;
  bench_.advance(10s);
  EXPECT_EQ(sink_.count, before + 10);
  EXPECT_EQ(state().sequence, sequence + 10);
}

TEST_F(MonitorTest, ChangeOfPhaseIsPublishedAtOnceButNotInAFlood) {
  join_all();
  bench_.advance(1500ms);
  const std::size_t before = sink_.count;
  bench_.deliver(kAggregator, RunPhase{1, Phase::flushing});
  EXPECT_EQ(sink_.count, before + 1);
  EXPECT_EQ(state().phase, Phase::flushing);
  for (int i = 0; i < 100; ++i) bench_.deliver(kAggregator, RunPhase{1, i % 2 == 0 ? Phase::training : Phase::flushing});
  EXPECT_EQ(sink_.count, before + 1);
}

TEST_F(MonitorTest, SpansAreKeptOfMembersOnceAndForThisRunOnly) {
  join_all();
  MetricReport told = report(1, 10.0, {});
  told.spans = {{SpanKind::forward, 9'000'000, 1000, 0, 0}, {SpanKind::step, 99'000'000, 1000, 0, 0}};
  bench_.deliver(kConv, told);
  bench_.deliver(kConv, told);
  bench_.deliver({Role::conv_worker, 999}, told);
  bench_.advance(1s);
  ASSERT_EQ(state().spans->size(), 1U);
  const ActorSpans& kept = state().spans->at(kConv);
  ASSERT_EQ(kept.chunks.size(), 1U) << "the same report once more";
  EXPECT_EQ(kept.chunks.front()->spans.size(), 1U) << "one had not happened yet";
  EXPECT_DOUBLE_EQ(kept.offset_seconds, -10);
  EXPECT_EQ(bench_.metric("spans_refused"), 1);
  bench_.advance(70s);
  EXPECT_TRUE(state().spans->empty());
  told.sequence = 2;
  bench_.deliver(kConv, told);
  bench_.advance(1s);
  EXPECT_EQ(state().spans->size(), 1U);
  join(1, kRun + 1);
  bench_.advance(1s);
  EXPECT_TRUE(state().spans->empty());
}

TEST_F(MonitorTest, RatesAreDifferencesOverTheSendersUptime) {
  join_all();
  bench_.deliver(
      kConv, report(1, 10.0, {{"sent.activations.socket", 1000}, {"sent.activations.payload", 900}, {"samples", 64}, {"cpu_seconds", 5}}));
  bench_.advance(1s);
  EXPECT_EQ(traffic(Traffic::activations).socket_bytes, 1000);
  EXPECT_EQ(traffic(Traffic::activations).socket_bytes_per_second, 0) << "one report makes no rate";
  EXPECT_TRUE(std::isnan(row(kConv)->samples_per_second));
  bench_.deliver(
      kConv,
      report(2, 12.0, {{"sent.activations.socket", 5000}, {"sent.activations.payload", 4700}, {"samples", 192}, {"cpu_seconds", 6}}));
  bench_.advance(1s);
  EXPECT_DOUBLE_EQ(traffic(Traffic::activations).socket_bytes_per_second, 2000);
  EXPECT_DOUBLE_EQ(traffic(Traffic::activations).payload_bytes_per_second, 1900);
  EXPECT_DOUBLE_EQ(state().bytes_per_second, 2000);
  EXPECT_DOUBLE_EQ(row(kConv)->samples_per_second, 64);
  EXPECT_DOUBLE_EQ(row(kConv)->cpu_ratio, 0.5);
  EXPECT_DOUBLE_EQ(row(kConv)->sent_bytes_per_second, 2000);
}

TEST_F(MonitorTest, RepeatedAndOlderReportsChangeNothing) {
  join_all();
  bench_.deliver(kConv, report(5, 5, {{"sent.batch.socket", 500}}));
  bench_.deliver(kConv, report(4, 4, {{"sent.batch.socket", 400}}));
  bench_.deliver(kConv, report(5, 5, {{"sent.batch.socket", 999}}));
  bench_.advance(1s);
  EXPECT_EQ(traffic(Traffic::batch).socket_bytes, 500);
}

TEST_F(MonitorTest, SilentSendersCountAsNoRateButKeepTheirTotals) {
  join_all();
  bench_.deliver(kConv, report(1, 1, {{"sent.batch.socket", 100}}));
  bench_.deliver(kConv, report(2, 2, {{"sent.batch.socket", 300}}));
  bench_.advance(1s);
  EXPECT_DOUBLE_EQ(state().bytes_per_second, 200);
  bench_.advance(5s);
  EXPECT_DOUBLE_EQ(state().bytes_per_second, 0);
  EXPECT_EQ(traffic(Traffic::batch).socket_bytes, 300);
}

TEST_F(MonitorTest, TotalsSurviveThoseWhoLeaveAndComeBack) {
  join_all();
  bench_.deliver(kConv, report(1, 1, {{"sent.push_conv.socket", 1000}}));
  roster({member(kFc, 1), member(kLoader, 1)});
  bench_.deliver(kConv, report(2, 2, {{"sent.push_conv.socket", 1500}}, true));  // its last words come after the roster
  bench_.advance(200s);
  EXPECT_EQ(row(kConv), nullptr) << "a member long gone is not shown";
  EXPECT_EQ(traffic(Traffic::push_conv).socket_bytes, 1500);
  roster({member(kConv, 1)});
  bench_.deliver(kConv, report(3, 200, {{"sent.push_conv.socket", 1600}}));
  bench_.advance(1s);
  EXPECT_EQ(traffic(Traffic::push_conv).socket_bytes, 1600) << "not counted twice";
}

TEST_F(MonitorTest, StrangersAreCountedAndIgnored) {
  join_all();
  bench_.deliver(kStranger, report(1, 1, {{"sent.push_conv.socket", 1e12}}));
  bench_.deliver(kStranger, status(Phase::finished, 5));
  bench_.deliver(kStranger, RunPhase{1, Phase::finished});
  bench_.advance(1s);
  EXPECT_EQ(state().reports_of_strangers, 1U);
  EXPECT_EQ(traffic(Traffic::push_conv).socket_bytes, 0);
  EXPECT_EQ(state().status, nullptr);
  EXPECT_EQ(state().phase, Phase::training);
  EXPECT_EQ(bench_.metric("not_from_aggregator"), 2);
}

TEST_F(MonitorTest, StatusOfAnotherRunOrGenerationIsIgnored) {
  join_all();
  RunStatus other = status(Phase::training, 1);
  other.run = kRun + 1;
  bench_.deliver(kAggregator, other);
  other = status(Phase::training, 1);
  other.generation = 9;
  bench_.deliver(kAggregator, other);
  EXPECT_EQ(bench_.metric("statuses_of_other_runs"), 2);
  bench_.advance(1s);
  EXPECT_EQ(state().status, nullptr);
}

TEST_F(MonitorTest, ANewRunForgetsTheOldOneAndANewGenerationDoesNot) {
  join_all();
  bench_.deliver(kConv, report(1, 1, {{"sent.batch.socket", 100}}));
  bench_.deliver(kAggregator, status(Phase::training, 3));
  join(2);
  bench_.advance(1s);
  EXPECT_EQ(traffic(Traffic::batch).socket_bytes, 100);
  EXPECT_EQ(state().series->rings()[0].rows.size(), 1U);
  join(1, kRun + 1);
  bench_.advance(1s);
  EXPECT_EQ(traffic(Traffic::batch).socket_bytes, 0);
  EXPECT_TRUE(state().series->empty());
  EXPECT_EQ(state().status, nullptr);
}

TEST_F(MonitorTest, PresenceFollowsTheAggregator) {
  join();
  roster({member(kConv, 1, false), member(kFc, 1), member(kLoader, 1, false)});
  bench_.advance(1s);
  EXPECT_EQ(row(kConv)->presence, Presence::idle);
  EXPECT_EQ(row(kFc)->presence, Presence::active);
  EXPECT_EQ(row(kLoader)->presence, Presence::active) << "only workers are ever idle";
  RunStatus s = status(Phase::training, 1);
  MemberStatus gone;
  gone.id = kConv;
  gone.number = 1;
  gone.gone = true;
  gone.clock = 5;
  gone.last_seen_seconds = 12;
  s.members = {gone};
  bench_.deliver(kAggregator, s);
  bench_.advance(1s);
  EXPECT_EQ(row(kConv)->presence, Presence::gone);
  EXPECT_EQ(row(kConv)->clock, 5U);
  EXPECT_GE(row(kConv)->last_seen_seconds, 12);
  EXPECT_TRUE(std::isnan(row(kConv)->sent_bytes_per_second));
}

TEST_F(MonitorTest, MembersLongGoneAreNotShown) {
  join();
  roster({member(kFc, 1), member(kConv, 1)});  // even where the roster is late to drop one
  bench_.deliver(kConv, report(1, 1, {{"samples", 5}}));
  RunStatus s = status(Phase::training, 1);
  MemberStatus gone;
  gone.id = kConv;
  gone.gone = true;
  s.members = {gone};
  for (int i = 0; i < 119; ++i) {
    bench_.deliver(kAggregator, s);
    bench_.advance(1s);
  }
  EXPECT_NE(row(kConv), nullptr);
  for (int i = 0; i < 5; ++i) {
    bench_.deliver(kAggregator, s);
    bench_.advance(1s);
  }
  EXPECT_EQ(row(kConv), nullptr);
}

TEST_F(MonitorTest, SeriesFollowsTheRunAndItsRollback) {
  join_all();
  for (int t = 1; t <= 30; ++t) bench_.deliver(kAggregator, status(Phase::training, t));
  bench_.deliver(kAggregator, status(Phase::training, 30.1));  // a change of phase sends an extra one
  bench_.advance(1s);
  ASSERT_EQ(state().series->rings()[0].rows.size(), 30U);
  EXPECT_FLOAT_EQ(state().series->rings()[0].rows.back().mean[0], 0.5F);
  bench_.deliver(kAggregator, status(Phase::training, 20));
  bench_.advance(1s);
  EXPECT_EQ(state().series->rings()[0].rows.size(), 20U);
  EXPECT_EQ(state().series->newest_time(), 20);
}

TEST_F(MonitorTest, EtaIsWhatIsLeftOverTheRate) {
  join_all();
  bench_.deliver(kAggregator, status(Phase::training, 10));
  bench_.advance(1s);
  EXPECT_DOUBLE_EQ(state().eta_seconds, 10);
  bench_.deliver(kAggregator, status(Phase::evaluating, 20));
  bench_.advance(1s);
  EXPECT_TRUE(std::isnan(state().eta_seconds));
}

TEST_F(MonitorTest, HostileNamesAndNumbersStayBounded) {
  join_all();
  std::vector<MetricValue> values;
  for (std::size_t i = 0; i < limits::kMetrics; ++i) values.push_back({"<script>" + std::string(100, 'x') + std::to_string(i), 1e308});
  values[0] = {"sent.<script>.socket", 5};
  values[1] = {"sent..socket", 5};
  values[2] = {"sent.batch.socket", 1e308};
  values[3] = {"sent.batch.payload", -1e308};
  values[4] = {"sent.socket", 5};
  for (std::uint64_t i = 1; i < 20; ++i) bench_.deliver(kConv, report(i, 1e308 / static_cast<double>(21 - i), values));
  RunStatus s = status(Phase::training, 1e300);
  s.loss = 1e300;
  bench_.deliver(kAggregator, s);
  bench_.advance(1s);
  EXPECT_LE(row(kConv)->metrics->size(), MetricBook::kValuesMax);
  EXPECT_TRUE(std::isfinite(traffic(Traffic::batch).socket_bytes));
  EXPECT_EQ(traffic(Traffic::batch).payload_bytes, 0);
  EXPECT_TRUE(std::isfinite(state().bytes_per_second));
  EXPECT_TRUE(state().series->empty()) << "no row at an impossible time";
}

TEST_F(MonitorTest, BytesThatAreNoMessageChangeACounterOnly) {
  join_all();
  bench_.deliver_bytes(kAggregator, MessageType::run_status, Bytes(1000, std::byte{0xdd}));
  bench_.deliver_bytes(kConv, MessageType::metric_report, {});
  bench_.deliver_bytes(kConv, MessageType::gradient_push, {});
  EXPECT_EQ(bench_.metric("malformed.run_status"), 1);
  EXPECT_EQ(bench_.metric("malformed.metric_report"), 1);
  EXPECT_EQ(bench_.metric("unexpected.gradient_push"), 1);
}

TEST_F(MonitorTest, LeavesWhenTheRunIsOverAndAllBytesAreKnown) {
  join_all();
  bench_.deliver(kConv, report(1, 1, {{"sent.batch.socket", 100}}));
  bench_.deliver(kAggregator, RunPhase{1, Phase::finished});
  bench_.deliver(kAggregator, status(Phase::finished, 50));
  EXPECT_FALSE(bench_.exit_code.has_value()) << "the worker's last report is still to come";
  bench_.deliver(kConv, report(2, 2, {{"sent.batch.socket", 250}}, true));
  ASSERT_TRUE(bench_.exit_code.has_value());
  EXPECT_EQ(*bench_.exit_code, ExitCode::ok);
  EXPECT_TRUE(state().closed);
  EXPECT_EQ(state().phase, Phase::finished);
  EXPECT_EQ(traffic(Traffic::batch).socket_bytes, 250);
}

TEST_F(MonitorTest, DoesNotWaitForeverForLastReports) {
  join_all();
  bench_.deliver(kConv, report(1, 1, {}));
  bench_.deliver(kAggregator, RunPhase{1, Phase::finished});
  bench_.advance(3s);
  EXPECT_EQ(bench_.exit_code, ExitCode::ok);
  EXPECT_TRUE(state().closed);
}

TEST_F(MonitorTest, StopsWhenAsked) {
  join_all();
  bench_.stop();
  EXPECT_EQ(bench_.exit_code, ExitCode::ok);
  EXPECT_TRUE(state().closed);
  EXPECT_EQ(bench_.posted.back(), std::make_pair(kAggregator, MessageType::goodbye));
}

TEST(MonitorWithoutSink, IsStillAMember) {
  MonitorBench bench(nullptr);
  bench.start();
  Welcome welcome;
  welcome.run = kRun;
  bench.deliver(kAggregator, welcome);
  bench.deliver(kAggregator, RunPhase{welcome.generation, Phase::finished});
  bench.advance(5s);
  EXPECT_EQ(bench.exit_code, ExitCode::ok);
}

}  // namespace
}  // namespace hourglass
