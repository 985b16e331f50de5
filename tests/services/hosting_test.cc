// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include "services/hosting/cpu_quota.h"
#include "services/hosting/folder_lock.h"
#include "services/hosting/health_file.h"
#include "services/hosting/log.h"
#include "services/hosting/newest_writer.h"
#include "services/hosting/ports.h"
#include "services/hosting/text_file.h"
#include "services/hosting/token_file.h"
#include "services/options/setting_kinds.h"

namespace hourglass {
namespace {

namespace fs = std::filesystem;

fs::path fresh_folder(const std::string& name) {
  const fs::path folder = fs::path(::testing::TempDir()) / ("hosting_" + name + "_" + std::to_string(getpid()));
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder;
}

TEST(FolderLock, OneAggregatorAtATimeAndTheKernelGivesItBack) {
  const std::string folder = fresh_folder("lock") / "run";
  {
    const auto first = FolderLock::take(folder);
    ASSERT_TRUE(first.ok()) << first.error().text;
    const auto second = FolderLock::take(folder);
    ASSERT_FALSE(second.ok());
    EXPECT_NE(second.error().text.find("in use by another aggregator"), std::string::npos) << second.error().text;
    EXPECT_TRUE(FolderLock::held(folder));
    EXPECT_TRUE(FolderLock::held(folder)) << "looking takes nothing, and gives nothing up";
    EXPECT_FALSE(FolderLock::take(folder).ok());
  }
  EXPECT_FALSE(FolderLock::held(folder));
  EXPECT_TRUE(FolderLock::take(folder).ok());
  EXPECT_FALSE(FolderLock::take("/proc/nowhere").ok());
  EXPECT_FALSE(FolderLock::held("/proc/nowhere"));
}

TEST(CpuQuota, ReadsCpuMax) {
  EXPECT_EQ(quota_from_cpu_max("200000 100000\n"), 2.0);
  EXPECT_EQ(quota_from_cpu_max("50000 100000"), 0.5);
  EXPECT_EQ(quota_from_cpu_max("max 100000"), 0.0);
  EXPECT_EQ(quota_from_cpu_max(""), 0.0);
  EXPECT_EQ(quota_from_cpu_max("100000 0"), 0.0);
}

TEST(CpuQuota, TheSmallestOfAllGroupsAboveCounts) {
  const fs::path root = fresh_folder("quota");
  fs::create_directories(root / "a/b");
  EXPECT_EQ(usable_processors(root, "/a/b", 8), 8U);
  std::ofstream(root / "a/b/cpu.max") << "600000 100000\n";
  EXPECT_EQ(usable_processors(root, "/a/b", 8), 6U);
  std::ofstream(root / "a/cpu.max") << "250000 100000\n";
  EXPECT_EQ(usable_processors(root, "/a/b", 8), 3U);  // 2.5 keeps three busy
  EXPECT_EQ(usable_processors(root, "/a/b", 2), 2U);
  std::ofstream(root / "cpu.max") << "1000 100000\n";
  EXPECT_EQ(usable_processors(root, "/a/b", 8), 1U);
  EXPECT_GE(usable_processors(), 1U);
}

class Listener {
 public:
  Listener() : handle_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(handle_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(handle_, 1), 0);
    socklen_t length = sizeof address;
    getsockname(handle_, reinterpret_cast<sockaddr*>(&address), &length);
    port = ntohs(address.sin_port);
  }
  ~Listener() { close(handle_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  std::uint16_t port = 0;

 private:
  int handle_;
};

TEST(Ports, S2_ATakenPortNamesItsOwner) {
  std::uint16_t port = 0;
  {
    const Listener other;
    port = other.port;
    const Status taken = port_is_free("127.0.0.1", port);
    ASSERT_FALSE(taken.ok());
    EXPECT_EQ(taken.error().code, Errc::unreachable);
    EXPECT_NE(taken.error().text.find("port " + std::to_string(port)), std::string::npos) << taken.error().text;
    EXPECT_NE(taken.error().text.find("held by pid " + std::to_string(getpid()) + " ("), std::string::npos) << taken.error().text;
  }
  EXPECT_TRUE(port_is_free("127.0.0.1", port).ok());
  EXPECT_EQ(port_owner(port), "");
}

TEST(Ports, AnAddressIsTakenApart) {
  EXPECT_EQ(port_of("[::1]:7070"), 7070);
  EXPECT_EQ(host_of("[::1]:7070"), "[::1]");
  EXPECT_FALSE(own_host_name().empty());
}

TEST(Health, FollowsTheProcess) {
  const std::string path = (fresh_folder("health") / "file").string();
  EXPECT_FALSE(read_health(path).ok());
  {
    HealthFile file(path, "conv-worker");
    file.renew(false);
    const Status starting = read_health(path);
    ASSERT_FALSE(starting.ok());
    EXPECT_NE(starting.error().text.find("not ready"), std::string::npos);
    file.renew(true);
    EXPECT_TRUE(read_health(path).ok());
    const timespec old[2] = {{1000, 0}, {1000, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), old, 0), 0);
    const Status stuck = read_health(path);
    ASSERT_FALSE(stuck.ok());
    EXPECT_NE(stuck.error().text.find("has not turned its loop"), std::string::npos);
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(Health, ADeadProcessIsNotHealthy) {
  const std::string path = (fresh_folder("dead") / "file").string();
  std::ofstream(path) << "conv-worker 99999999 ready\n";
  const Status gone = read_health(path);
  ASSERT_FALSE(gone.ok());
  EXPECT_NE(gone.error().text.find("is gone"), std::string::npos);
}

TEST(Health, TheFileIsWhereTheSettingSays) {
  Settings settings;
  settings.health_file = "off";
  EXPECT_EQ(health_path(settings), "");
  settings.health_file = "/x/y";
  EXPECT_EQ(health_path(settings), "/x/y");
}

TEST(Log, JsonLinesAreOneLineAndEscaped) {
  ::testing::internal::CaptureStderr();
  start_log({"json", "info", "conv-worker", "host-1"});
  set_log_number(3);
  log_line(Severity::debug, "too fine", {});
  log_line(Severity::warning, "said \"no\"\nand left", {{"peer", "a\\b"}});
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(text.find("too fine"), std::string::npos);
  EXPECT_NE(text.find("\"level\":\"warning\",\"role\":\"conv-worker\",\"number\":3,\"name\":\"host-1\","
                      "\"event\":\"said \\\"no\\\"\\u000aand left\",\"peer\":\"a\\\\b\"}\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
}

TEST(Log, TextLinesQuoteWhatHasBlanks) {
  ::testing::internal::CaptureStderr();
  start_log({"text", "debug", "train", ""});
  log_line(Severity::info, "joined", {{"number", "2"}, {"cause", "two words"}});
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("Z train: joined number=2 cause=\"two words\"\n"), std::string::npos) << text;
}

TEST(NewestWriter, WritesTheNewestComplainsOnceAndWritesTheLastWhenItEnds) {
  std::vector<int> written;  // read after the thread has ended
  int complaints = 0;
  {
    NewestWriter<int> writer(
        [&](const int& value) {
          written.push_back(value);
          return Status(Errc::io, "no space is left");
        },
        [&](const Error&) { ++complaints; });
    for (int i = 1; i <= 1000; ++i) writer.tell(std::make_shared<const int>(i));
  }
  EXPECT_EQ(written.back(), 1000);
  EXPECT_LT(written.size(), 1000U) << "what comes faster is passed over";
  EXPECT_TRUE(std::ranges::is_sorted(written));
  EXPECT_EQ(complaints, 1);
  {
    const NewestWriter<int> idle([](const int&) { return Status(); }, {});
  }
}

TEST(TokenFile, IsMadeOnceReadableByItsOwnerAloneAndKept) {
  const std::string folder = ::testing::TempDir() + "/token_of_a_run";
  std::filesystem::remove_all(folder);
  EXPECT_EQ(token_of(folder).error().code, Errc::io) << "there is no such folder";
  std::filesystem::create_directory(folder);
  const auto token = token_of(folder);
  ASSERT_TRUE(token.ok()) << token.error().text;
  EXPECT_TRUE(kinds::is_token(*token));
  EXPECT_EQ(std::filesystem::status(folder + "/monitor.token").permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EXPECT_EQ(*token_of(folder), *token) << "so that a monitor that starts again takes the same";
  EXPECT_EQ(*token_of(folder, "chosen-by-people"), "chosen-by-people");
  EXPECT_EQ(*token_of(folder), "chosen-by-people");
  ASSERT_TRUE(write_text(folder + "/monitor.token", "short\n").ok());
  EXPECT_NE(*token_of(folder), "short");
  EXPECT_NE(new_token(), new_token());
}

}  // namespace
}  // namespace hourglass
