// SPDX-License-Identifier: Apache-2.0
#include "services/tensorboard/tensorboard_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

namespace hourglass {
namespace {
using tensorboard::ScalarFeed;
using tensorboard::ScalarRow;
namespace fs = std::filesystem;

DashboardState state_at(std::uint64_t samples, std::uint32_t generation = 1, Phase phase = Phase::training) {
  RunStatus status;
  status.run = 0xabc;
  status.generation = generation;
  status.phase = phase;
  status.samples_done = samples;
  status.seconds = static_cast<double>(samples) / 10;
  status.loss = 100.0 / static_cast<double>(samples + 1);
  status.samples_per_second = 10;
  status.groups.resize(2);
  status.groups[0].version = samples / 2;
  for (std::uint64_t at = 100; at <= samples; at += 100) status.history.push_back({static_cast<double>(at) / 10, at, 0, 0.25, 0.75});
  DashboardState state;
  state.status = std::make_shared<const RunStatus>(std::move(status));
  state.status_age_seconds = 0.5;
  state.series = std::make_shared<const Series>();
  state.traffic[static_cast<std::size_t>(Traffic::push_conv)] = {10, 12, 1, 2};
  state.bytes_per_second = 2;
  return state;
}

std::map<std::string, float> scalars_of(const ScalarRow& row) {
  std::map<std::string, float> out;
  for (const auto& scalar : row.scalars) out[scalar.tag] = scalar.value;
  return out;
}

TEST(ScalarFeed, ARowHasLossSpeedBytesAndStaleness) {
  ScalarFeed feed(false);
  EXPECT_FALSE(feed.look(state_at(0, 1, Phase::waiting), 1000).begins) << "nothing to tell yet";
  const auto news = feed.look(state_at(49), 1000);
  EXPECT_TRUE(news.begins);
  EXPECT_EQ(news.begin_step, 0);
  ASSERT_EQ(news.rows.size(), 1U);
  EXPECT_EQ(news.rows[0].step, 49);
  EXPECT_DOUBLE_EQ(news.rows[0].wall_time, 999.5);
  const std::map<std::string, float> expected = {{"train/loss", 2},
                                                 {"speed/samples_per_second", 10},
                                                 {"bytes_per_second/total", 2},
                                                 {"bytes_per_second/push_conv", 2},
                                                 {"bytes/total", 12},
                                                 {"staleness/mean", 0},
                                                 {"staleness/max", 0},
                                                 {"run/version", 24}};
  EXPECT_EQ(scalars_of(news.rows[0]), expected);
}

TEST(ScalarFeed, StepsRiseAndEachEvaluationComesOnceAtItsOwnTime) {
  ScalarFeed feed(false);
  EXPECT_EQ(feed.look(state_at(50), 1000).rows.size(), 1U);
  EXPECT_TRUE(feed.look(state_at(50), 1001).rows.empty()) << "no step, no row";
  const auto news = feed.look(state_at(250), 1020);
  EXPECT_FALSE(news.begins);
  ASSERT_EQ(news.rows.size(), 3U);
  EXPECT_EQ(news.rows[0].step, 100);
  EXPECT_DOUBLE_EQ(news.rows[0].wall_time, 1019.5 - 15);
  EXPECT_EQ(scalars_of(news.rows[1]), (std::map<std::string, float>{{"test/loss", 0.25F}, {"test/accuracy", 0.75F}}));
  EXPECT_EQ(news.rows[1].step, 200);
  EXPECT_EQ(news.rows[2].step, 250);
  EXPECT_TRUE(feed.look(state_at(250), 1021).rows.empty());
}

TEST(ScalarFeed, AfterAReturnToACheckpointANewFileBegins) {
  ScalarFeed feed(false);
  (void)feed.look(state_at(250), 1000);
  EXPECT_FALSE(feed.look(state_at(200, 2, Phase::waiting), 1001).begins) << "not before the workers are back";
  auto news = feed.look(state_at(120, 2), 1002);
  EXPECT_TRUE(news.begins);
  EXPECT_EQ(news.begin_step, 120) << "what the earlier file says of these and later steps is void";
  ASSERT_EQ(news.rows.size(), 1U);
  EXPECT_EQ(news.rows[0].step, 120) << "told again";
  news = feed.look(state_at(220, 2), 1003);
  EXPECT_FALSE(news.begins);
  ASSERT_EQ(news.rows.size(), 2U);
  EXPECT_EQ(news.rows[0].step, 200) << "evaluated again";
}

TEST(ScalarFeed, AMonitorThatComesLateTellsNothingTwice) {
  ScalarFeed feed(true);
  auto news = feed.look(state_at(250), 1000);
  EXPECT_TRUE(news.begins);
  EXPECT_EQ(news.begin_step, 250);
  ASSERT_EQ(news.rows.size(), 1U) << "evaluations after 100 and 200 samples stand in the earlier file";
  EXPECT_EQ(news.rows[0].step, 250);
  news = feed.look(state_at(300), 1001);
  ASSERT_EQ(news.rows.size(), 2U);
  EXPECT_EQ(news.rows[0].step, 300);
}

TEST(ScalarFeed, AMonitorThatComesAtTheEndTellsTheLastEvaluation) {
  ScalarFeed feed(true);
  const auto news = feed.look(state_at(300), 1000);
  EXPECT_EQ(news.begin_step, 300);
  ASSERT_EQ(news.rows.size(), 2U);
  EXPECT_EQ(scalars_of(news.rows[0]).count("test/accuracy"), 1U);
  EXPECT_EQ(news.rows[1].step, 300);
}

class TensorboardWriterTest : public testing::Test {
 protected:
  void SetUp() override { fs::remove_all(folder_); }
  /// Of each file of the run, in order of names: how many times each text occurs in its bytes.
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(folder_ + "/0000000000000abc")) paths.push_back(entry.path());
    std::ranges::sort(paths);
    std::vector<std::string> out;
    for (const auto& path : paths) {
      std::ifstream in(path, std::ios::binary);
      out.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    }
    return out;
  }
  std::string folder_ = testing::TempDir() + "tensorboard_" + testing::UnitTest::GetInstance()->current_test_info()->name();
};

/// The bytes that a test expects, made by the encoder that event_file_test.cc checks.
bool holds(const std::string& file, std::int64_t step, const std::string& tag) {
  std::size_t at = 0;
  while (at + 12 <= file.size()) {
    std::uint64_t length = 0;
    std::memcpy(&length, file.data() + at, sizeof length);
    const std::string message = file.substr(at + 12, length);
    const std::string begin = tensorboard::scalars_message({0, step, {}}).substr(9);  // beyond the wall time
    const std::string step_bytes = begin.substr(0, begin.size() - 2);                 // without the empty summary
    if (message.compare(9, step_bytes.size(), step_bytes) == 0 && message.find(tag) != std::string::npos) return true;
    at += 12 + length + 4;
  }
  return false;
}

TEST_F(TensorboardWriterTest, PassesStatesOnAndWritesTheLastOne) {
  struct Counter final : StateSink {
    void publish(std::shared_ptr<const DashboardState>) override { ++states; }
    int states = 0;
  } next;
  {
    TensorboardWriter writer(folder_, "host", &next, [](const Error& error) { ADD_FAILURE() << error.text; });
    for (std::uint64_t samples = 1; samples <= 300; ++samples) writer.publish(std::make_shared<DashboardState>(state_at(samples)));
  }
  EXPECT_EQ(next.states, 300);
  ASSERT_EQ(files().size(), 1U);
  EXPECT_TRUE(holds(files()[0], 300, "train/loss"));
  EXPECT_TRUE(holds(files()[0], 200, "test/accuracy")) << "whatever states were passed over";
}

TEST_F(TensorboardWriterTest, EachLifeOfARunHasAFile) {
  for (const std::uint32_t generation : {1, 2}) {
    TensorboardWriter writer(folder_, "a host/../", nullptr, [](const Error& error) { ADD_FAILURE() << error.text; });
    writer.publish(std::make_shared<DashboardState>(state_at(150, generation)));
  }
  ASSERT_EQ(files().size(), 2U);
  EXPECT_TRUE(holds(files()[0], 150, "train/loss"));
  EXPECT_TRUE(holds(files()[1], 150, "train/loss")) << "in place of the earlier file's";
}

TEST_F(TensorboardWriterTest, AFolderThatTakesNothingIsSaidOnceAndStatesGoOn) {
  std::ofstream(folder_) << "a file";
  EXPECT_EQ(can_write_events(folder_ + "/below").error().code, Errc::io);
  int complaints = 0;
  struct Counter final : StateSink {
    void publish(std::shared_ptr<const DashboardState>) override { ++states; }
    int states = 0;
  } next;
  {
    TensorboardWriter writer(folder_, "host", &next, [&](const Error&) { ++complaints; });
    for (std::uint64_t samples = 1; samples <= 20; ++samples) writer.publish(std::make_shared<DashboardState>(state_at(samples)));
  }
  EXPECT_EQ(complaints, 1);
  EXPECT_EQ(next.states, 20);
  fs::remove(folder_);
  EXPECT_TRUE(can_write_events(folder_).ok());
  EXPECT_TRUE(fs::is_empty(folder_));
}

}  // namespace
}  // namespace hourglass
