// SPDX-License-Identifier: Apache-2.0
#include "services/history/history_store.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "services/history/history_writer.h"

namespace hourglass {
namespace {

class HistoryTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "history_" + testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    file_ = folder_ + "/" + kHistoryFile;
  }
  std::unique_ptr<HistoryStore> open(int schema = HistoryStore::kSchema) {
    auto store = HistoryStore::open(file_, schema);
    EXPECT_TRUE(store.ok()) << store.error().text;
    return std::move(store).value();
  }

  std::string folder_, file_;
};

SeriesValues loss_of(float loss) {
  SeriesValues values;
  values.fill(std::numeric_limits<float>::quiet_NaN());
  values[static_cast<std::size_t>(Column::loss)] = loss;
  return values;
}

/// A state after `seconds` of training, its loss 1 / second.
DashboardState state_after(int seconds, Series* series = nullptr) {
  Series own;
  if (series == nullptr) series = &own;
  if (series == &own) {
    for (int second = 0; second <= seconds; ++second) series->add(second, loss_of(static_cast<float>(second)));
  }
  RunStatus status;
  status.run = 0xabcULL;
  status.model = "lenet5";
  status.dataset = "synthetic";
  status.seconds = seconds;
  status.samples_done = static_cast<std::uint64_t>(seconds) * 10;
  status.samples_total = 1000;
  status.loss = 0.5;
  status.history = {{1, 10, 1000, 2.0, 0.5}, {2, 20, 2000, 1.5, 0.75}};
  status.groups.resize(1);
  status.groups[0].received = 7;
  status.groups[0].by_verdict = {5, 2};
  status.alarm = "disk full";
  DashboardState state;
  state.build = "1.0";
  state.generation = 2;
  state.phase = Phase::training;
  state.job = std::make_shared<const Job>();
  state.status = std::make_shared<const RunStatus>(std::move(status));
  state.traffic[0].socket_bytes = 500;
  state.series = std::make_shared<const Series>(*series);
  return state;
}

TEST_F(HistoryTest, WhatIsStoredIsThereAfterTheNextOpening) {
  ASSERT_TRUE(open()->store(state_after(25), {{"train.batch", "32"}}, 1000).ok());
  ASSERT_TRUE(open()->store(state_after(30), {{"train.batch", "32"}}, 6000).ok());
  auto store = HistoryStore::open_existing(file_);
  ASSERT_TRUE(store.ok());
  const auto runs = (*store)->runs().value();
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].id, "0000000000000abc");
  EXPECT_EQ(runs[0].model, "lenet5");
  EXPECT_EQ(runs[0].phase, "training");
  EXPECT_EQ(runs[0].alarm, "disk full");
  EXPECT_EQ(runs[0].started_ms, 1000);
  EXPECT_EQ(runs[0].updated_ms, 6000);
  EXPECT_EQ(runs[0].samples_done, 300U);
  EXPECT_EQ(runs[0].received, 7U);
  EXPECT_EQ(runs[0].applied, 5U);
  EXPECT_EQ(runs[0].rejected, 2U);
  EXPECT_TRUE(runs[0].balanced);
  EXPECT_DOUBLE_EQ(runs[0].accuracy, 0.75);
  EXPECT_DOUBLE_EQ(runs[0].sent_bytes, 500);
  EXPECT_EQ((*store)->settings(runs[0].id).value(), (KeyedTexts{{"train.batch", "32"}}));
  const auto evaluations = (*store)->evaluations(runs[0].id).value();
  ASSERT_EQ(evaluations.size(), 2U);
  EXPECT_EQ(evaluations[1].samples, 20U);
  EXPECT_EQ((*store)->series(runs[0].id, 1, "loss").value().size(), 31U);
  EXPECT_TRUE((*store)->series(runs[0].id, 1, "accuracy").value().empty()) << "what is not known has no row";
}

TEST_F(HistoryTest, CoarseRowsHaveMeanLeastAndGreatest) {
  auto store = open();
  ASSERT_TRUE(store->store(state_after(125), {}, 1000).ok());
  const auto ten = store->series("0000000000000abc", 10, "loss").value();
  ASSERT_EQ(ten.size(), 12U);
  EXPECT_DOUBLE_EQ(ten[1].time, 15);
  EXPECT_FLOAT_EQ(ten[1].mean, 14.5F);
  EXPECT_FLOAT_EQ(ten[1].least, 10);
  EXPECT_FLOAT_EQ(ten[1].greatest, 19);
  EXPECT_EQ(store->series("0000000000000abc", 60, "loss").value().size(), 2U);
}

TEST_F(HistoryTest, RowsOutliveTheMonitorsRings) {
  auto store = open();
  Series series;
  for (int second = 0; second < 2000; ++second) {
    series.add(second, loss_of(1));
    if (second % 100 == 99) {
      ASSERT_TRUE(store->store(state_after(second, &series), {}, second).ok());
    }
  }
  EXPECT_EQ(series.rings()[0].rows.size(), 900U);
  EXPECT_EQ(store->series("0000000000000abc", 1, "loss").value().size(), 2000U);
}

TEST_F(HistoryTest, OldRowsAreDropped) {
  auto store = open();
  Series series;
  const int end = static_cast<int>(HistoryStore::kRowsMax[0]) + 600;  // the last state is stored, too
  for (int second = 0; second < end; ++second) {
    series.add(second, loss_of(1));
    if (second % 500 == 499) {
      ASSERT_TRUE(store->store(state_after(second, &series), {}, second).ok());
    }
  }
  const auto rows = store->series("0000000000000abc", 1, "loss").value();
  EXPECT_LE(rows.size(), HistoryStore::kRowsMax[0] + 1);
  EXPECT_DOUBLE_EQ(rows.back().time, end - 1);
}

TEST_F(HistoryTest, ARolledBackRunReplacesItsRowsAndEvaluations) {
  auto store = open();
  Series series;
  for (int second = 0; second < 50; ++second) series.add(second, loss_of(1));
  ASSERT_TRUE(store->store(state_after(49, &series), {}, 1).ok());
  for (int second = 30; second < 35; ++second) series.add(second, loss_of(2));
  DashboardState state = state_after(34, &series);
  auto status = std::make_shared<RunStatus>(*state.status);
  status->history.pop_back();
  state.status = status;
  ASSERT_TRUE(store->store(state, {}, 2).ok());
  const auto rows = store->series("0000000000000abc", 1, "loss").value();
  ASSERT_EQ(rows.size(), 35U);
  EXPECT_FLOAT_EQ(rows[29].mean, 1);
  EXPECT_FLOAT_EQ(rows[30].mean, 2);
  EXPECT_EQ(store->evaluations("0000000000000abc").value().size(), 1U);
}

/// A file of the first schema has neither alarms nor evaluations.
TEST_F(HistoryTest, AnOlderSchemaIsBroughtUpToDate) {
  {
    auto old = open(1);
    EXPECT_FALSE(old->store(state_after(5), {}, 1).ok()) << "the test's file is of the older schema";
  }
  auto store = HistoryStore::open_existing(file_);
  ASSERT_TRUE(store.ok()) << store.error().text;
  ASSERT_TRUE((*store)->runs().ok());
  ASSERT_TRUE((*store)->store(state_after(5), {}, 1).ok());
  EXPECT_EQ((*store)->runs().value()[0].alarm, "disk full");
}

TEST_F(HistoryTest, WhatIsNoHistoryIsRefused) {
  std::ofstream(file_) << std::string(5000, 'x');
  for (const auto& opened : {HistoryStore::open(file_).ok(), HistoryStore::open_existing(file_).ok()}) EXPECT_FALSE(opened);
  EXPECT_EQ(HistoryStore::open(file_).error().code, Errc::bad_data);
  EXPECT_EQ(HistoryStore::open_existing(folder_ + "/nowhere.db").error().code, Errc::io);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/nowhere.db"));
}

TEST_F(HistoryTest, TheWriterPassesStatesOnAndStoresTheLastOne) {
  struct Counter final : StateSink {
    void publish(std::shared_ptr<const DashboardState>) override { ++states; }
    int states = 0;
  } next;
  {
    HistoryWriter writer(open(), &next, [](const Job&) { return KeyedTexts{{"a.b", "1"}}; }, {});
    for (int second = 1; second <= 40; ++second) writer.publish(std::make_shared<DashboardState>(state_after(second)));
  }
  EXPECT_EQ(next.states, 40);
  auto store = open();
  EXPECT_EQ(store->runs().value()[0].samples_done, 400U);
  EXPECT_EQ(store->settings("0000000000000abc").value().size(), 1U);
}

TEST_F(HistoryTest, OneReadsWhileAnotherWrites) {
  auto writer = open();
  ASSERT_TRUE(writer->store(state_after(5), {}, 1).ok());
  auto reader = HistoryStore::open_existing(file_);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ((*reader)->runs().value()[0].samples_done, 50U);
  ASSERT_TRUE(writer->store(state_after(6), {}, 2).ok());
  EXPECT_EQ((*reader)->runs().value()[0].samples_done, 60U);
}

}  // namespace
}  // namespace hourglass
