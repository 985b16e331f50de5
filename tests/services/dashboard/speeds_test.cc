// SPDX-License-Identifier: Apache-2.0
#include "services/dashboard/speeds.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace hourglass {
namespace {
using Json = nlohmann::json;

DashboardState state_at(double uptime, std::vector<std::pair<std::uint32_t, double>> workers) {
  DashboardState state;
  state.sequence = static_cast<std::uint64_t>(uptime * 10);
  state.uptime_seconds = uptime;
  for (const auto& [index, speed] : workers) {
    ActorState actor;
    actor.id = {Role::conv_worker, index};
    actor.samples = 1;
    actor.samples_per_second = speed;
    state.actors.push_back(actor);
  }
  return state;
}

TEST(Speeds, OneRowASecondAndGapsAsNull) {
  Speeds speeds;
  speeds.look(state_at(1, {{1, 100.04}}));
  speeds.look(state_at(1.2, {{1, 999}}));  // a change in between
  speeds.look(state_at(2, {{1, kUnknown}}));
  speeds.look(state_at(3, {{1, 12.5}, {2, 7}}));
  const Json json = Json::parse(speeds.json());
  EXPECT_EQ(json["sequence"], 30);
  EXPECT_EQ(json["workers"]["conv-worker:00000001"], Json::parse("[100, null, 12.5]"));
  EXPECT_EQ(json["workers"]["conv-worker:00000002"], Json::parse("[7]"));
}

TEST(Speeds, AreBoundedInTimeAndWorkers) {
  Speeds speeds;
  std::vector<std::pair<std::uint32_t, double>> many;
  for (std::uint32_t i = 0; i < Speeds::kWorkersMax + 100; ++i) many.emplace_back(i, i);
  for (std::size_t i = 0; i < Speeds::kRowsMax + 50; ++i) speeds.look(state_at(static_cast<double>(i), many));
  const Json json = Json::parse(speeds.json());
  EXPECT_EQ(json["workers"].size(), Speeds::kWorkersMax);
  EXPECT_EQ(json["workers"]["conv-worker:00000007"].size(), Speeds::kRowsMax);
}

TEST(Speeds, WhoIsNoLongerShownIsForgotten) {
  Speeds speeds;
  speeds.look(state_at(1, {{1, 5}, {2, 5}}));
  speeds.look(state_at(2, {{2, 5}}));
  EXPECT_EQ(Json::parse(speeds.json())["workers"].size(), 1U);
  speeds.look(state_at(3, {{1, 6}, {2, 5}}));
  EXPECT_EQ(Json::parse(speeds.json())["workers"]["conv-worker:00000001"].size(), 1U);
}

}  // namespace
}  // namespace hourglass
