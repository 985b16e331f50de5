// SPDX-License-Identifier: Apache-2.0
#include "services/dashboard/watch.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace hourglass {
namespace {

/// A run of `workers` CONV workers and one FC worker, a state each second.
class WatchTest : public ::testing::Test {
 protected:
  WatchTest() {
    state.series = std::make_shared<const Series>();
    state.phase = Phase::training;
    state.status_age_seconds = 0;
    status.run = 1;
    status.staleness_bound = 0;
    status.samples_done = 1;
    status.loss = 1;
    add(Role::fc_worker, 0);
    for (std::uint32_t i = 0; i < 3; ++i) add(Role::conv_worker, i);
  }
  void add(Role role, std::uint32_t number) {
    ActorState actor;
    actor.id = {role, 100 + number};
    actor.number = number;
    actor.name = "node-" + std::to_string(number);
    actor.presence = Presence::active;
    actor.last_seen_seconds = 0.5;
    state.actors.push_back(actor);
  }
  ActorState& conv(std::size_t number) { return state.actors[1 + number]; }
  void pass(double seconds = 1) {
    state.uptime_seconds += seconds;
    state.status = std::make_shared<const RunStatus>(status);
    watch.look(state, static_cast<std::int64_t>(1000 * state.uptime_seconds));
  }
  void step_all() {
    for (std::size_t i = 0; i < 3; ++i) ++conv(i).clock;
    pass();
  }
  [[nodiscard]] std::string alert(const std::string& kind) const {
    const auto& alerts = watch.findings()->alerts;
    const auto found = std::ranges::find(alerts, kind, &Alert::kind);
    return found == alerts.end() ? "" : found->text;
  }
  [[nodiscard]] std::ptrdiff_t events_with(const std::string& text) const {
    return std::ranges::count_if(watch.findings()->events, [&](const Event& event) { return event.text.find(text) != std::string::npos; });
  }

  DashboardState state;
  RunStatus status;
  Watch watch;
};

TEST_F(WatchTest, AStalledSynchronousRunNamesTheAwaitedWorkerItsClockAndSinceWhen) {
  for (int i = 0; i < 5; ++i) step_all();
  EXPECT_TRUE(watch.findings()->waits.empty());
  ++conv(0).clock;  // the other two go one step ahead of worker 1 and may go no further
  ++conv(2).clock;
  pass();
  conv(1).last_seen_seconds = 9;
  for (int i = 0; i < 6; ++i) pass();
  const auto& waits = watch.findings()->waits;
  ASSERT_EQ(waits.size(), 2U);
  for (const std::size_t i : {0U, 2U}) {
    const Wait& wait = waits.at(conv(i).id);
    EXPECT_EQ(wait.on, std::vector<ActorId>{conv(1).id});
    EXPECT_EQ(wait.text, "CONV worker 1 at clock 5");
    EXPECT_DOUBLE_EQ(wait.seconds, 6);
  }
  EXPECT_EQ(alert("awaited"), "2 workers wait for CONV worker 1 (node-1) at clock 5");
  EXPECT_EQ(events_with("wait for CONV worker 1"), 1);
}

TEST_F(WatchTest, WorkersWithinTheirBoundOrWithoutOneAreNotHeldUp) {
  status.staleness_bound = 4;
  conv(0).clock = 3;
  for (int i = 0; i < 8; ++i) pass();
  EXPECT_TRUE(watch.findings()->waits.at(conv(0).id).on.empty()) << "it stands still, but the bound does not hold it up";
  status.staleness_bound = kUnlimited;
  conv(0).clock = 300;
  for (int i = 0; i < 8; ++i) pass();
  EXPECT_TRUE(watch.findings()->waits.at(conv(0).id).on.empty());
}

TEST_F(WatchTest, WhereAllStandStillTheSilentOneIsNamed) {
  for (int i = 0; i < 3; ++i) step_all();
  state.actors[0].last_seen_seconds = 7;
  for (int i = 0; i < 5; ++i) pass();
  EXPECT_EQ(watch.findings()->waits.at(conv(2).id).text, "FC worker 0");
  EXPECT_EQ(alert("silent"), "FC worker 0 (node-0) is silent: no heartbeat");
}

TEST_F(WatchTest, WithACutTheSilentWorkerIsNamedThoughNoClockIsAheadOfIt) {
  for (int i = 0; i < 3; ++i) step_all();
  conv(1).last_seen_seconds = 7;
  for (int i = 0; i < 5; ++i) pass();
  EXPECT_EQ(watch.findings()->waits.size(), 2U) << "the silent one does not wait";
  EXPECT_EQ(watch.findings()->waits.at(conv(2).id).text, "CONV worker 1 at clock 3");
  EXPECT_EQ(alert("awaited"), "2 workers wait for CONV worker 1 (node-1) at clock 3");
}

TEST_F(WatchTest, NobodyWaitsInAPausedRunOrBeforeTheFirstStatus) {
  for (int i = 0; i < 6; ++i) {
    state.uptime_seconds += 1;
    watch.look(state, 0);
  }
  EXPECT_TRUE(watch.findings()->waits.empty()) << "the phase is known before any status";
  ++conv(0).clock;
  status.held = true;
  for (int i = 0; i < 8; ++i) pass();
  EXPECT_TRUE(watch.findings()->waits.empty());
  status.held = false;
  pass();
  EXPECT_TRUE(watch.findings()->waits.empty()) << "what stood still was not its fault";
}

TEST_F(WatchTest, LongStepsAreNotWaits) {
  for (int i = 0; i < 30; ++i) {
    for (std::size_t w = 0; w < 3; ++w) conv(w).clock += i % 6 == 0 ? 1 : 0;
    pass();
    if (i <= 12) continue;  // until it knows how long a step takes
    EXPECT_TRUE(watch.findings()->waits.empty()) << i;
  }
}

TEST_F(WatchTest, AnAlertKeepsItsTimeAndTheLogSaysWhenItPasses) {
  status.alarm = "disk full";
  pass();
  const std::int64_t since = watch.findings()->alerts.at(0).since_ms;
  pass(5);
  EXPECT_EQ(alert("alarm"), "disk full");
  EXPECT_EQ(watch.findings()->alerts.at(0).since_ms, since);
  EXPECT_EQ(events_with("disk full"), 1);
  status.alarm.clear();
  pass();
  EXPECT_EQ(alert("alarm"), "");
  EXPECT_EQ(events_with("Passed: disk full"), 1);
}

TEST_F(WatchTest, ALossThatIsNoNumberAndOneThatRises) {
  pass();
  EXPECT_TRUE(watch.findings()->alerts.empty());
  status.loss = 0.3;
  pass();
  status.loss = 0.7;  // twice as much, and yet no divergence
  pass();
  EXPECT_EQ(alert("divergence"), "");
  status.loss = 0.9;
  pass();
  EXPECT_NE(alert("divergence").find("0.3000"), std::string::npos);
  status.loss = kUnknown;
  pass();
  EXPECT_NE(alert("nonfinite"), "");
}

TEST_F(WatchTest, ThrownAwayGradientsAreAnAlertForAWhile) {
  pass();
  status.groups.resize(1);
  status.groups[0].received = 1;
  status.groups[0].by_verdict.assign(static_cast<std::size_t>(kLastVerdict) + 1, 0);
  status.groups[0].by_verdict[static_cast<std::size_t>(Verdict::nonfinite)] = 1;
  pass();
  EXPECT_NE(alert("nonfinite"), "");
  pass(Watch::kNonfiniteSeconds);
  EXPECT_EQ(alert("nonfinite"), "");
}

TEST_F(WatchTest, AStragglerIsOneForAWhileBeforeItIsCalledSo) {
  for (std::size_t i = 0; i < 3; ++i) conv(i).samples_per_second = i == 1 ? 40 : 100;
  for (int i = 0; i < 10; ++i) step_all();
  EXPECT_EQ(alert("straggler"), "");
  step_all();
  EXPECT_EQ(alert("straggler").find("CONV worker 1 (node-1)"), 0U);
  conv(1).samples_per_second = 60;
  step_all();
  EXPECT_EQ(alert("straggler"), "");
}

TEST_F(WatchTest, WhoComesAndGoesIsLoggedButNotAtTheEnd) {
  pass();
  EXPECT_EQ(events_with("CONV worker 2 (node-2) has joined"), 1);
  conv(2).presence = Presence::gone;
  pass();
  pass();
  EXPECT_EQ(events_with("CONV worker 2 (node-2) is gone"), 1);
  EXPECT_EQ(alert("gone"), "CONV worker 2 (node-2) is gone");
  conv(2).presence = Presence::active;
  pass();
  EXPECT_EQ(events_with("is back"), 1);
  state.phase = Phase::finished;
  for (ActorState& actor : state.actors) actor.presence = Presence::gone;
  pass();
  EXPECT_EQ(events_with("is gone"), 1);
}

TEST_F(WatchTest, EventsAreBoundedAndCountUp) {
  for (std::size_t i = 0; i < 2 * Watch::kEventsMax; ++i) {
    status.alarm = i % 2 == 0 ? "disk full" : "";
    pass();
  }
  const auto& events = watch.findings()->events;
  ASSERT_EQ(events.size(), Watch::kEventsMax);
  for (std::size_t i = 1; i < events.size(); ++i) EXPECT_EQ(events[i].id, events[i - 1].id + 1);
}

TEST_F(WatchTest, ALedgerThatDoesNotAddUpIsAnAlert) {
  status.groups.resize(1);
  status.groups[0].received = 2;
  status.groups[0].by_verdict = {1};
  pass();
  EXPECT_NE(alert("ledger"), "");
  status.groups[0].rolled_back = 1;
  pass();
  EXPECT_EQ(alert("ledger"), "");
}

TEST_F(WatchTest, ANewRunStartsWithoutTheOldOnesAlerts) {
  status.loss = 0.1;
  pass();
  status.loss = 2.3;
  pass();
  EXPECT_NE(alert("divergence"), "");
  status.run = 2;
  pass();
  EXPECT_EQ(alert("divergence"), "");
}

}  // namespace
}  // namespace hourglass
