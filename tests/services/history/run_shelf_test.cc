// SPDX-License-Identifier: Apache-2.0
#include "services/history/run_shelf.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

namespace hourglass {
namespace {
namespace fs = std::filesystem;
using Json = nlohmann::json;

class RunShelfTest : public testing::Test {
 protected:
  void SetUp() override {
    runs_ = fs::path(testing::TempDir()) / ("shelf_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(runs_);
    fs::create_directories(runs_ / "own");
  }
  void TearDown() override { fs::remove_all(runs_); }

  /// A run of so many seconds whose loss is `loss` at each of them, and whose samples go up by ten.
  void store(const std::string& folder, std::uint64_t run, int seconds, float loss, std::int64_t started_ms) {
    Series series;
    for (int second = 0; second <= seconds; ++second) {
      SeriesValues values;
      values.fill(std::numeric_limits<float>::quiet_NaN());
      values[static_cast<std::size_t>(Column::loss)] = loss;
      values[static_cast<std::size_t>(Column::samples)] = static_cast<float>(10 * second);
      series.add(second, values);
    }
    RunStatus status;
    status.run = run;
    status.model = "lenet5";
    status.dataset = "synthetic";
    status.seconds = seconds;
    status.samples_done = 10;
    status.history = {{1, 10, 1000, 2.0, 0.5}};
    DashboardState state;
    state.series = std::make_shared<const Series>(std::move(series));
    state.status = std::make_shared<const RunStatus>(std::move(status));
    fs::create_directories(runs_ / folder);
    auto history = HistoryStore::open((runs_ / folder / kHistoryFile).string());
    ASSERT_TRUE(history.ok()) << history.error().text;
    ASSERT_TRUE((*history)->store(state, {}, started_ms).ok());
  }

  fs::path runs_;
};

TEST_F(RunShelfTest, ListsItsOwnAndThoseBesideItTheNewestFirst) {
  store("own", 1, 5, 0.5F, 3000);
  store("own", 4, 5, 0.5F, 500);
  store("other", 2, 5, 0.5F, 1000);
  store("third", 3, 5, 0.5F, 2000);
  fs::create_directories(runs_ / "no_run");
  std::ofstream(runs_ / "a_file") << "x";
  RunShelf shelf((runs_ / "own").string());
  const Json list = Json::parse(shelf.list_json());
  EXPECT_EQ(list["available"], true);
  std::vector<std::string> found;
  for (const Json& run : list["runs"]) found.push_back(run["folder"].get<std::string>() + " " + run["id"].get<std::string>());
  EXPECT_EQ(found,
            (std::vector<std::string>{"own 0000000000000001", "third 0000000000000003", "other 0000000000000002", "own 0000000000000004"}));
  EXPECT_EQ(list["runs"][0]["accuracy"], 0.5);
}

TEST_F(RunShelfTest, CurvesAreThoseOfTheRunAtAStepThatFits) {
  store("own", 1, 5, 0.5F, 1000);
  store("long", 2, 2600, 0.25F, 2000);
  RunShelf shelf((runs_ / "own").string());
  const auto text = shelf.curves_json("0000000000000001");
  ASSERT_TRUE(text);
  const Json curves = Json::parse(*text);
  EXPECT_EQ(curves["step_seconds"], 1);
  EXPECT_EQ(curves["time"].size(), 6U);
  EXPECT_EQ(curves["loss"][3], 0.5);
  EXPECT_EQ(curves["samples"][3], 30);
  EXPECT_TRUE(curves["bytes"][3].is_null());
  EXPECT_EQ(curves["history"][0]["accuracy"], 0.5);
  const Json coarse = Json::parse(shelf.curves_json("0000000000000002").value());
  EXPECT_EQ(coarse["step_seconds"], 10);
  EXPECT_GT(coarse["time"].size(), 200U);
  EXPECT_LE(coarse["time"].size(), 261U);
}

TEST_F(RunShelfTest, AnythingElseIsNoRun) {
  store("own", 1, 5, 0.5F, 1000);
  RunShelf shelf((runs_ / "own").string());
  for (const char* id : {"", "0000000000000009", "../own", "1", "0000000000000001/", "' OR 1 = 1 --"})
    EXPECT_FALSE(shelf.curves_json(id)) << id;
}

TEST_F(RunShelfTest, WhatAnotherBuildOrNobodyWroteIsLeftAloneAndLeftOut) {
  store("own", 1, 5, 0.5F, 1000);
  fs::create_directories(runs_ / "old");
  const std::string old = (runs_ / "old" / kHistoryFile).string();
  ASSERT_TRUE(HistoryStore::open(old, 1).ok());
  fs::create_directories(runs_ / "broken");
  std::ofstream(runs_ / "broken" / kHistoryFile) << "this is no database";
  RunShelf shelf((runs_ / "own").string());
  EXPECT_EQ(Json::parse(shelf.list_json())["runs"].size(), 1U);
  EXPECT_FALSE(HistoryStore::open_as_it_is(old).ok()) << "still of the old schema";
  ASSERT_TRUE(HistoryStore::open_existing(old).ok());
  EXPECT_TRUE(HistoryStore::open_as_it_is(old).ok());
}

TEST_F(RunShelfTest, WithoutAnyHistoryTheListIsEmpty) {
  RunShelf shelf((runs_ / "nowhere" / "own").string());
  EXPECT_EQ(Json::parse(shelf.list_json())["runs"].size(), 0U);
}

}  // namespace
}  // namespace hourglass
