// SPDX-License-Identifier: Apache-2.0
#include "services/tensorboard/event_file.h"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace hourglass::tensorboard {
namespace {

std::string hex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    out += kDigits[static_cast<unsigned char>(c) >> 4];
    out += kDigits[static_cast<unsigned char>(c) & 15U];
  }
  return out;
}

std::string fresh_folder(const std::string& name) {
  const std::string folder = testing::TempDir() + "event_file_" + name;
  std::filesystem::remove_all(folder);
  return folder;
}

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Worked out by hand from the two formats.
TEST(EventFile, MessagesHaveTheirBytes) {
  EXPECT_EQ(hex(version_message(1.0)),
            "09000000000000f03f"
            "1000"
            "1a0d" +
                hex("brain.Event:2"));
  EXPECT_EQ(hex(restart_message(2.0, 300)),
            "090000000000000040"
            "10ac02"
            "3a020801");
  EXPECT_EQ(hex(scalars_message({1.0, 5, {{"a/b", 0.5F}}})),
            "09000000000000f03f"
            "1005"
            "2a0c"
            "0a0a"
            "0a03" +
                hex("a/b") + "150000003f");
}

TEST(EventFile, ARecordIsFramedWithBothChecksums) {
  const std::string framed = record("123456789");
  ASSERT_EQ(framed.size(), 8U + 4 + 9 + 4);
  EXPECT_EQ(hex(framed.substr(0, 8)), "0900000000000000");
  EXPECT_EQ(framed.substr(12, 9), "123456789");
  // ((crc >> 15 | crc << 17) + 0xa282ead8) of 0xe3069283, little-endian
  EXPECT_EQ(hex(framed.substr(21)), "e5b08ac7");
}

TEST(EventFile, IsAppendedToAndNeverOverwritten) {
  const std::string folder = fresh_folder("append") + "/below/it";
  auto first = EventFile::create(folder, 1700000000, "host");
  ASSERT_TRUE(first.ok()) << first.error().text;
  EXPECT_EQ(first->path(), folder + "/events.out.tfevents.1700000000.host");
  ASSERT_TRUE(first->append("abc").ok());
  ASSERT_TRUE(first->append("def").ok());
  auto second = EventFile::create(folder, 1700000000, "host");
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->path(), folder + "/events.out.tfevents.1700000001.host");
  EXPECT_EQ(second->seconds(), 1700000001);
  EXPECT_EQ(read(first->path()), "abcdef");
}

TEST(EventFile, AFolderThatIsNoneIsAnErrorThatNamesIt) {
  const std::string folder = fresh_folder("none");
  std::ofstream(folder) << "a file";
  const auto file = EventFile::create(folder + "/below", 1, "host");
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().code, Errc::io);
  EXPECT_NE(file.error().text.find(folder), std::string::npos) << file.error().text;
}

/// A limit on the size of files stands for a disk that fills up in the middle of a record.
TEST(EventFile, WhatAFailedWriteLeftIsCutOff) {
  auto file = EventFile::create(fresh_folder("full"), 1, "host");
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->append(std::string(90, 'a')).ok());
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit tight{100, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  const Status failed = file->append(std::string(20, 'b'));
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(failed.ok());
  EXPECT_NE(failed.error().text.find(file->path()), std::string::npos);
  EXPECT_EQ(read(file->path()), std::string(90, 'a'));
  ASSERT_TRUE(file->append("c").ok());
  EXPECT_EQ(read(file->path()), std::string(90, 'a') + "c");
}

}  // namespace
}  // namespace hourglass::tensorboard
