// SPDX-License-Identifier: Apache-2.0
#include "services/dashboard/checkpoint_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "services/dashboard/dashboard.h"
#include "tests/services/dashboard/http_client.h"

namespace hourglass {
namespace {
namespace fs = std::filesystem;
using Json = nlohmann::json;

class CheckpointFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "checkpoints-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = fs::path(pattern) / "run";
    fs::create_directory(folder_);
    std::ofstream(folder_.parent_path() / "checkpoint-00000099.hgck") << "outside";
  }
  void TearDown() override {
    dashboard_ = nullptr;
    fs::remove_all(folder_.parent_path());
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name, std::ios::binary) << text; }
  void serve() {
    const auto describe = [](std::span<const std::byte> begin) -> std::optional<CheckpointNote> {
      if (begin.empty() || begin[0] != std::byte{'!'}) return std::nullopt;
      return CheckpointNote{2, 12.5, begin.size(), 1000, 7, 0.5};
    };
    auto started = Dashboard::start({"127.0.0.1", 0, {}, "", folder_.string(), describe});
    ASSERT_TRUE(started.ok()) << started.error().text;
    dashboard_ = std::move(*started);
  }
  Answer get(const std::string& path) { return HttpClient(dashboard_->port()).get(path); }
  Json list() { return Json::parse(get("/api/v1/checkpoints").body); }

  fs::path folder_;
  std::unique_ptr<Dashboard> dashboard_;
};

TEST(CheckpointNames, OnlyThoseThatTheAggregatorGives) {
  EXPECT_EQ(number_of_checkpoint("checkpoint-00000012.hgck"), 12U);
  EXPECT_EQ(number_of_checkpoint("checkpoint-18446744073709551615.hgck"), UINT64_MAX);
  for (const char* name :
       {"", "checkpoint-.hgck", "checkpoint-1.hgck", "checkpoint-0000001x.hgck", "checkpoint-+0000001.hgck", "checkpoint--0000001.hgck",
        "checkpoint- 0000001.hgck", "checkpoint-00000012.hgck.tmp", "checkpoint-00000012.hgck/", "./checkpoint-00000012.hgck",
        "checkpoint-18446744073709551616.hgck", "checkpoint-000000000000000000001.hgck", "Checkpoint-00000012.hgck",
        "checkpoint-00000012.HGCK", "checkpoint-0000/012.hgck"}) {
    EXPECT_FALSE(number_of_checkpoint(name)) << name;
  }
}

TEST_F(CheckpointFilesTest, TheNewestComeFirstAndTwentyAtMost) {
  for (int i = 1; i <= 25; ++i) {
    char name[40];
    std::snprintf(name, sizeof name, "checkpoint-%08d.hgck", i);
    write(name, i == 25 ? "torn" : "!" + std::string(static_cast<std::size_t>(i), 'x'));
  }
  for (const char* other : {"run.state", "checkpoint-00000026.hgck.part", "journal-00000001", "checkpoint-x.hgck"}) write(other, "!");
  serve();
  const Json all = list();
  EXPECT_EQ(all["available"], true);
  EXPECT_EQ(all["total"], 25);
  ASSERT_EQ(all["checkpoints"].size(), CheckpointFiles::kShownMax);
  const Json& torn = all["checkpoints"][0];
  EXPECT_EQ(torn["name"], "checkpoint-00000025.hgck");
  EXPECT_EQ(torn["readable"], false);
  EXPECT_EQ(torn["bytes"], 4);
  EXPECT_GT(torn["modified_ms"].get<std::int64_t>(), 0);
  const Json& good = all["checkpoints"][1];
  EXPECT_EQ(good["readable"], true);
  EXPECT_EQ(good["samples"], 25);
  EXPECT_EQ(good["version"], 7);
  EXPECT_EQ(good["accuracy"], 0.5);
  EXPECT_EQ(all["checkpoints"][19]["number"], 6);
}

TEST_F(CheckpointFilesTest, ADownloadIsTheFile) {
  std::string bytes;
  for (int i = 0; i < 1000000; ++i) bytes += static_cast<char>(i * 7);
  write("checkpoint-00000001.hgck", bytes);
  serve();
  const Answer answer = get("/api/v1/checkpoints/checkpoint-00000001.hgck");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.header("Content-Disposition"), "attachment; filename=\"checkpoint-00000001.hgck\"");
  EXPECT_EQ(answer.header("Content-Type"), "application/octet-stream");
  EXPECT_EQ(answer.header("Content-Length"), "1000000");
  EXPECT_EQ(answer.header("X-Content-Type-Options"), "nosniff");
  EXPECT_TRUE(answer.body == bytes);
  HttpClient head(dashboard_->port());
  head.send("HEAD /api/v1/checkpoints/checkpoint-00000001.hgck HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  const std::string all = head.rest();
  EXPECT_NE(all.find("Content-Length: 1000000"), std::string::npos);
  EXPECT_EQ(all.find("\r\n\r\n"), all.size() - 4);
}

TEST_F(CheckpointFilesTest, AnEmptyFileIsAnEmptyAnswer) {
  write("checkpoint-00000001.hgck", "");
  serve();
  const Answer answer = get("/api/v1/checkpoints/checkpoint-00000001.hgck");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.header("Content-Length"), "0");
}

TEST_F(CheckpointFilesTest, NoPathLeadsOutOfTheFolder) {
  write("run.state", "secret");
  write("checkpoint-00000001.hgck", "!");
  fs::create_symlink(folder_ / "run.state", folder_ / "checkpoint-00000002.hgck");
  fs::create_symlink("/etc/passwd", folder_ / "checkpoint-00000003.hgck");
  fs::create_directory(folder_ / "checkpoint-00000004.hgck");
  ASSERT_EQ(mkfifo((folder_ / "checkpoint-00000005.hgck").c_str(), 0600), 0);
  serve();
  for (const char* name : {"",
                           ".",
                           "..",
                           "run.state",
                           "../checkpoint-00000099.hgck",
                           "..%2fcheckpoint-00000099.hgck",
                           "%2e%2e/checkpoint-00000099.hgck",
                           "..\\checkpoint-00000099.hgck",
                           "/etc/passwd",
                           "%2fetc%2fpasswd",
                           "checkpoint-00000001.hgck/../run.state",
                           "checkpoint-00000001.hgck%2f..%2frun.state",
                           "checkpoint-00000001.hgck/",
                           "x/checkpoint-00000001.hgck",
                           "checkpoint-00000001.hgck%0a",
                           "checkpoint-00000001.hgck%0d%0aX-Evil:%201",
                           "checkpoint-%2a.hgck",
                           "checkpoint-00000002.hgck",
                           "checkpoint-00000003.hgck",
                           "checkpoint-00000004.hgck",
                           "checkpoint-00000005.hgck",
                           "checkpoint-00000006.hgck"}) {
    const Answer answer = get("/api/v1/checkpoints/" + std::string(name));
    EXPECT_EQ(answer.status, 404) << name;
    EXPECT_EQ(answer.body.find("secret"), std::string::npos) << name;
    EXPECT_EQ(answer.header("X-Evil"), "") << name;
  }
  EXPECT_EQ(get("/api/v1/checkpoints/checkpoint-00000001.hgck").status, 200);
  EXPECT_EQ(list()["checkpoints"].size(), 1U) << "links, folders and pipes are none";
}

TEST_F(CheckpointFilesTest, OneThatVanishesIsNotFoundAndTheFolderMayToo) {
  write("checkpoint-00000001.hgck", "!");
  serve();
  EXPECT_EQ(list()["checkpoints"].size(), 1U);
  fs::remove(folder_ / "checkpoint-00000001.hgck");
  EXPECT_EQ(get("/api/v1/checkpoints/checkpoint-00000001.hgck").status, 404);
  fs::remove_all(folder_);
  EXPECT_EQ(get("/api/v1/checkpoints/checkpoint-00000001.hgck").status, 404);
  EXPECT_EQ(list()["checkpoints"].size(), 0U);
}

TEST_F(CheckpointFilesTest, DownloadsAreLimitedAndTheirPlacesComeFree) {
  write("checkpoint-00000001.hgck", std::string(32U << 20, 'x'));  // more than the sockets' buffers take
  serve();
  const std::string path = "/api/v1/checkpoints/checkpoint-00000001.hgck";
  std::vector<std::unique_ptr<HttpClient>> stuck;
  for (std::uint32_t i = 0; i < CheckpointFiles::kDownloadsMax; ++i) {
    stuck.push_back(std::make_unique<HttpClient>(dashboard_->port(), 4096));
    stuck.back()->send("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    (void)stuck.back()->read_until("\r\n\r\n");
  }
  EXPECT_EQ(get(path).status, 503);
  EXPECT_EQ(get("/livez").status, 200) << "they keep nobody else waiting";
  stuck.clear();
  int status = 503;
  for (int i = 0; i < 200 && status == 503; ++i) {
    HttpClient client(dashboard_->port());
    client.send("HEAD " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    status = client.answer(false).status;
    if (status == 503) usleep(20000);
  }
  EXPECT_EQ(status, 200);
}

TEST(CheckpointFiles, WithoutAFolderThereAreNone) {
  auto dashboard = Dashboard::start({"127.0.0.1", 0});
  ASSERT_TRUE(dashboard.ok());
  HttpClient client((*dashboard)->port());
  EXPECT_EQ(Json::parse(client.get("/api/v1/checkpoints").body)["available"], false);
  EXPECT_EQ(client.get("/api/v1/checkpoints/checkpoint-00000001.hgck").status, 404);
}

}  // namespace
}  // namespace hourglass
