// SPDX-License-Identifier: Apache-2.0
#include "services/dashboard/event_log.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "services/dashboard/dashboard.h"
#include "tests/services/dashboard/http_client.h"
#include "tests/services/dashboard/synthetic_run.h"

namespace hourglass {
namespace {
using Json = nlohmann::json;
namespace fs = std::filesystem;

std::vector<Json> lines_of(const std::string& text) {
  std::vector<Json> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    EXPECT_NE(end, std::string::npos) << "half a line";
    if (end == std::string::npos) break;
    out.push_back(Json::parse(text.substr(at, end - at)));
    at = end + 1;
  }
  return out;
}

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(EventLine, IsJsonWithATimeWhateverTheTextHolds) {
  EXPECT_EQ(event_line({3, 1769903999123, Level::warning, "it is gone"}),
            R"({"id":3,"time":"2026-01-31T23:59:59.123Z","level":"warning","text":"it is gone"})");
  const std::string line = event_line({4, 5, Level::error, "a \"name\"\n\xff\x01"});
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(Json::parse(line)["time"], "1970-01-01T00:00:00.005Z");
  EXPECT_EQ(Json::parse(line)["text"], "a \"name\"\n\xEF\xBF\xBD\x01");
}

TEST(EventLines, BeginWhereTheReaderLeftOff) {
  Findings findings;
  EXPECT_EQ(event_lines(findings, 7), "");
  for (std::uint64_t id = 11; id <= 20; ++id) findings.events.push_back({id, 0, Level::info, "x"});
  EXPECT_EQ(lines_of(event_lines(findings, 0)).size(), 10U);
  EXPECT_EQ(lines_of(event_lines(findings, 19)).size(), 2U);
  EXPECT_EQ(event_lines(findings, 21), "") << "nothing is new";
  EXPECT_EQ(lines_of(event_lines(findings, 500)).size(), 10U) << "a number of an earlier monitor";
}

class EventLogTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  /// A run whose second CONV worker vanishes, told to a log of at most `bytes_max`. What the page's log says of it.
  std::vector<Event> told(int seconds, std::uint64_t bytes_max = EventLog::kBytesMax) {
    Board board;
    {
      EventLog log(
          folder_ + "/events.jsonl", board, [this](const Error&) { ++complaints_; }, bytes_max);
      SyntheticRun run(&log, {.run_seconds = 100, .lose_one = true});
      for (int i = 0; i < seconds; ++i) run.tick();
    }
    const auto events = board.newest().findings->events;
    return {events.begin(), events.end()};
  }
  std::string folder_ = testing::TempDir() + "event_log_" + testing::UnitTest::GetInstance()->current_test_info()->name();
  int complaints_ = 0;
};

TEST_F(EventLogTest, EachEventIsAppendedOnceInOrder) {
  const auto events = told(70);
  const auto lines = lines_of(read(folder_ + "/events.jsonl"));
  ASSERT_GT(events.size(), 8U);
  ASSERT_EQ(lines.size(), events.size());
  bool gone = false;
  for (std::size_t i = 0; i < events.size(); ++i) {
    EXPECT_EQ(lines[i]["id"], events[i].id);
    EXPECT_EQ(lines[i]["text"], events[i].text);
    EXPECT_EQ(lines[i]["level"], name_of(events[i].level));
    gone = gone || (lines[i]["level"] == "warning" && events[i].text.find("is gone") != std::string::npos);
  }
  EXPECT_TRUE(gone);
  const std::size_t before = lines.size();
  const auto more = told(20);
  EXPECT_EQ(lines_of(read(folder_ + "/events.jsonl")).size(), before + more.size()) << "the next life of a monitor appends";
  EXPECT_EQ(complaints_, 0);
}

TEST_F(EventLogTest, AFullFileMakesRoomOnce) {
  const std::string file = folder_ + "/events.jsonl";
  (void)told(20, 1U << 20);
  const std::size_t bytes_max = read(file).size() + 10;  // one life's events, and not one more, however many are written at a time
  fs::remove(file);
  (void)told(20, bytes_max);
  const std::string earlier = read(file);
  ASSERT_EQ(earlier.size(), bytes_max - 10);
  const auto second = told(20, bytes_max);
  EXPECT_EQ(read(file + ".1"), earlier);
  EXPECT_EQ(lines_of(read(file)).size(), second.size());
  (void)told(20, bytes_max);
  EXPECT_EQ(lines_of(read(file + ".1")).size(), second.size()) << "the oldest is gone";
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 2);
}

TEST_F(EventLogTest, AFolderThatTakesNothingIsSaidOnceAndTheRunGoesOn) {
  fs::remove_all(folder_);
  EXPECT_GT(told(70).size(), 8U);
  EXPECT_EQ(complaints_, 1);
}

TEST(EventLogOverHttp, GivesTheNewestEventsFromAnId) {
  auto dashboard = Dashboard::start({"127.0.0.1", 0});
  ASSERT_TRUE(dashboard.ok()) << dashboard.error().text;
  SyntheticRun run(&(*dashboard)->sink(), {.lose_one = true});
  for (int i = 0; i < 250; ++i) run.tick();
  const auto get = [&](const std::string& path) { return HttpClient((*dashboard)->port()).get(path); };
  const Answer all = get("/api/v1/log");
  EXPECT_EQ(all.status, 200);
  EXPECT_EQ(all.header("Content-Type"), "application/x-ndjson");
  EXPECT_EQ(all.header("Cache-Control"), "no-store");
  const auto lines = lines_of(all.body);
  ASSERT_GT(lines.size(), 8U);
  const auto last = lines.back()["id"].get<std::uint64_t>();
  const auto some = lines_of(get("/api/v1/log?from=" + std::to_string(last - 1)).body);
  EXPECT_EQ(some, (std::vector<Json>{lines[lines.size() - 2], lines.back()}));
  EXPECT_EQ(get("/api/v1/log?from=" + std::to_string(last + 1)).body, "");
  for (const char* wrong : {"", "x", "-1", "1x", "99999999999999999999999"}) {
    EXPECT_EQ(get("/api/v1/log?from=" + std::string(wrong)).status, 400) << wrong;
  }
}

}  // namespace
}  // namespace hourglass
