// SPDX-License-Identifier: Apache-2.0
#include "services/dashboard/state_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace hourglass {
namespace {
using Json = nlohmann::json;

DashboardState state_with(RunStatus status) {
  DashboardState state;
  state.series = std::make_shared<const Series>();
  state.status = std::make_shared<const RunStatus>(std::move(status));
  return state;
}

Json parsed(const DashboardState& state, Detail detail = Detail::full) { return Json::parse(state_json(state, 0, detail)); }

TEST(StateJson, TextThatIsNotUtf8StillMakesValidJson) {
  DashboardState state = state_with({});
  ActorState actor;
  actor.name = "\xff\xfe\xc3";
  state.actors = {actor};
  EXPECT_NO_THROW(parsed(state));
  EXPECT_EQ(state_json(state, 0, Detail::full).find('\n'), std::string::npos) << "one line, as an event needs";
}

TEST(StateJson, WhatIsNotKnownIsNull) {
  const Json state = parsed(state_with({}));
  EXPECT_TRUE(state["run"]["loss"].is_null());
  EXPECT_TRUE(state["run"]["eta_seconds"].is_null());
  EXPECT_TRUE(state["row"].is_null());
  EXPECT_TRUE(state["job"].is_null());
}

TEST(StateJson, IdentitiesOf64BitsAreText) {
  RunStatus status;
  status.run = 0xfedcba9876543210ULL;
  EXPECT_EQ(parsed(state_with(status))["run"]["id"], "fedcba9876543210");
}

TEST(StateJson, CarriesAsMuchHistoryAsAskedFor) {
  RunStatus status;
  for (int i = 0; i < 800; ++i) status.history.push_back({static_cast<double>(i), 0, 0, 0, 0});
  const DashboardState state = state_with(status);
  const auto check = [&](Detail detail, std::size_t from) {
    const Json json = parsed(state, detail);
    EXPECT_EQ(json["history_from"], from);
    ASSERT_EQ(json["history"].size(), 800 - from);
    EXPECT_EQ(json["history"][0]["seconds"], static_cast<double>(from));
  };
  check(Detail::full, 0);
  check(Detail::snapshot, 300);
  check(Detail::newest, 798);
}

TEST(StateJson, TheLedgerTellsWhenItDoesNotAddUp) {
  RunStatus status;
  status.groups.resize(2);
  status.groups[0] = {9, 13, {8, 2, 0, 0, 0}, 3, 3, 4, 1.5, {5, 1, 2}};
  status.groups[1] = {2, 2, {2}, 0, 0, 6, 4.0, {}};  // a shorter list than ours: an older aggregator
  Json json = parsed(state_with(status));
  EXPECT_EQ(json["ledger"]["balanced"], true);
  EXPECT_EQ(json["ledger"]["rolled_back"], 3);
  EXPECT_EQ(json["ledger"]["received"], 15);
  EXPECT_EQ(json["ledger"]["rejected"]["stale"], 2);
  EXPECT_EQ(json["staleness"]["max"], 6);
  EXPECT_EQ(json["groups"][0]["staleness_counts"], Json({5, 1, 2}));
  EXPECT_DOUBLE_EQ(json["staleness"]["mean"].get<double>(), (8 * 1.5 + 2 * 4.0) / 10);
  status.groups[0].received = 11;
  EXPECT_EQ(parsed(state_with(status))["ledger"]["balanced"], false);
}

TEST(StateJson, AnUnlimitedBoundIsAWord) {
  RunStatus status;
  status.staleness_bound = kUnlimited;
  EXPECT_EQ(parsed(state_with(status))["staleness"]["bound"], "unlimited");
}

TEST(StateJson, CarriesWhatWasFound) {
  DashboardState state = state_with({});
  ActorState actor;
  actor.id = {Role::conv_worker, 1};
  actor.metrics = std::make_shared<const std::vector<MetricValue>>(std::vector<MetricValue>{{"queue", 3}, {"sent.batch.payload", 9}});
  state.actors = {actor};
  Findings findings;
  findings.alerts = {{"alarm", kAggregator, Level::error, "disk full", 5}};
  for (std::uint64_t id = 1; id <= 40; ++id) findings.events.push_back({id, 0, Level::info, "e"});
  findings.waits[actor.id] = {{kAggregator}, "the aggregator", 4.5};
  Json json = Json::parse(state_json(state, 0, Detail::newest, findings));
  EXPECT_EQ(json["alerts"][0]["text"], "disk full");
  EXPECT_EQ(json["alerts"][0]["level"], "error");
  EXPECT_EQ(json["events"].size(), kNewestEvents);
  EXPECT_EQ(json["events"].back()["id"], 40);
  EXPECT_EQ(json["workers"][0]["waits"]["on"][0], to_string(kAggregator));
  EXPECT_EQ(json["workers"][0]["waits"]["seconds"], 4.5);
  EXPECT_EQ(json["workers"][0]["figures"], Json({{"queue", 3.0}}));
  EXPECT_EQ(Json::parse(state_json(state, 0, Detail::snapshot, findings))["events"].size(), 40);
}

TEST(StateJson, BytesBeforeCompressionAreTheDenseSizeOfAllPushes) {
  RunStatus status;
  status.groups.resize(2);
  status.groups[0].received = 10;
  DashboardState state = state_with(status);
  Findings findings;
  findings.sizes = {1000, 500, 64};
  const auto raw = [&](Traffic traffic) {
    return Json::parse(state_json(state, 0, Detail::full, findings))["traffic"][static_cast<std::size_t>(traffic)]["raw_bytes"];
  };
  EXPECT_EQ(raw(Traffic::push_conv), 4.0 * 1000 * 10);
  EXPECT_TRUE(raw(Traffic::control).is_null());
  Job job;
  job.tree_arity = 2;
  state.job = std::make_shared<const Job>(job);
  EXPECT_TRUE(raw(Traffic::push_conv).is_null()) << "tree nodes push what others pushed";
  findings.sizes = {};
  EXPECT_TRUE(raw(Traffic::push_conv).is_null());
}

TEST(SeriesJson, GapsAreNullAndUnknownStepsAreNone) {
  DashboardState state = state_with({});
  Series series;
  SeriesValues values{};
  values[0] = std::nanf("");
  values[1] = 0.25F;
  series.add(1, values);
  state.series = std::make_shared<const Series>(series);
  const Json json = Json::parse(*series_json(state, std::nullopt));
  EXPECT_TRUE(json["mean"][0][0].is_null());
  EXPECT_EQ(json["mean"][1][0], 0.25);
  EXPECT_FALSE(series_json(state, 7).has_value());
}

}  // namespace
}  // namespace hourglass
