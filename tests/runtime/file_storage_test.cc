// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>

#include "runtime/zmq/file_storage.h"

namespace hourglass::zmq {
namespace {

namespace fs = std::filesystem;

class FileStorageTest : public testing::Test {
 protected:
  FileStorageTest() {
    std::string pattern = (fs::temp_directory_path() / "hourglass-storage-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    reopen();
  }
  ~FileStorageTest() override { fs::remove_all(folder_); }
  void reopen() {
    auto opened = FileStorage::open(folder_ + "/run/actor");
    ASSERT_TRUE(opened.ok()) << opened.error().text;
    storage_ = std::move(*opened);
  }
  std::string text(std::string_view name) {
    const auto read = storage_->read(name);
    return read.ok() ? std::string(as_text(*read)) : "error " + std::string(name_of(read.error().code));
  }

  std::string folder_;
  std::unique_ptr<FileStorage> storage_;
};

/// What a full disk does, without one: files may not grow above a size.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) {
    old_handler_ = ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit small{bytes, old_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallFiles() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    ::signal(SIGXFSZ, old_handler_);
  }

 private:
  rlimit old_{};
  sighandler_t old_handler_;
};

TEST_F(FileStorageTest, WritesReplaceAndAppendsAdd) {
  ASSERT_TRUE(storage_->write("checkpoint-1.safetensors", as_span("first")).ok());
  ASSERT_TRUE(storage_->write("checkpoint-1.safetensors", as_span("2nd")).ok());
  ASSERT_TRUE(storage_->append("journal", as_span("ab")).ok());
  ASSERT_TRUE(storage_->append("journal", as_span("")).ok());
  ASSERT_TRUE(storage_->append("journal", as_span("cd")).ok());
  ASSERT_TRUE(storage_->sync_appended().ok());
  ASSERT_TRUE(storage_->write("status.json", as_span("{}")).ok());
  reopen();
  EXPECT_EQ(text("checkpoint-1.safetensors"), "2nd");
  EXPECT_EQ(text("journal"), "abcd");
  EXPECT_EQ(text("status.json"), "{}");
  EXPECT_EQ(storage_->read("nothing").error().code, Errc::bad_data);
}

TEST_F(FileStorageTest, NamesStayInTheFolder) {
  for (const char* bad : {"", ".", "..", "../x", "a/b", "/etc/passwd", ".hidden", "a b", "a\n", "ü"}) {
    EXPECT_EQ(storage_->write(bad, as_span("x")).error().code, Errc::io) << bad;
    EXPECT_EQ(storage_->append(bad, as_span("x")).error().code, Errc::io) << bad;
    EXPECT_EQ(storage_->read(bad).error().code, Errc::io) << bad;
  }
  EXPECT_EQ(storage_->write(std::string(200, 'a'), as_span("x")).error().code, Errc::io);
}

TEST_F(FileStorageTest, ListsByPrefixAndRemoves) {
  for (const char* name : {"checkpoint-2", "checkpoint-10", "journal-1", "checkpoint-1"})
    ASSERT_TRUE(storage_->write(name, as_span("x")).ok());
  EXPECT_EQ(storage_->list("checkpoint-").value(), (std::vector<std::string>{"checkpoint-1", "checkpoint-10", "checkpoint-2"}));
  EXPECT_EQ(storage_->list("").value().size(), 4U);
  ASSERT_TRUE(storage_->remove("checkpoint-10").ok());
  ASSERT_TRUE(storage_->remove("checkpoint-10").ok()) << "it is gone, as asked";
  EXPECT_EQ(storage_->list("checkpoint-1").value(), (std::vector<std::string>{"checkpoint-1"}));
  EXPECT_FALSE(storage_->remove("../other").ok());
}

TEST_F(FileStorageTest, K2_StrayTemporariesAreRemovedAtStart) {
  const std::string stray = folder_ + "/run/actor/.checkpoint.tmp";
  std::ofstream(stray) << "half";
  std::ofstream(folder_ + "/run/actor/kept.tmp") << "whole";
  reopen();
  EXPECT_FALSE(fs::exists(stray));
  EXPECT_EQ(text("kept.tmp"), "whole");
}

TEST_F(FileStorageTest, K2_AFullDiskLeavesWhatWasThere) {
  ASSERT_TRUE(storage_->write("state", as_span("old")).ok());
  ASSERT_TRUE(storage_->append("journal", as_span("entry 1;")).ok());
  const Bytes big(100'000);
  {
    const SmallFiles limit(4096);
    const Status written = storage_->write("state", big);
    ASSERT_FALSE(written.ok());
    EXPECT_EQ(written.error().code, Errc::io);
    EXPECT_NE(written.error().text.find("state"), std::string::npos);
    EXPECT_EQ(storage_->append("journal", big).error().code, Errc::io);
  }
  EXPECT_EQ(text("state"), "old");
  EXPECT_EQ(text("journal"), "entry 1;") << "no torn record";
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder_ + "/run/actor")) ++files;
  EXPECT_EQ(files, 2U) << "no temporary is left";
  EXPECT_TRUE(storage_->append("journal", as_span("entry 2;")).ok());
}

TEST_F(FileStorageTest, AFolderThatCannotBeIsAnError) {
  std::ofstream(folder_ + "/file") << "x";
  EXPECT_EQ(FileStorage::open(folder_ + "/file/below").error().code, Errc::io);
  EXPECT_EQ(FileStorage::open(folder_ + "/file").error().code, Errc::io);
}

}  // namespace
}  // namespace hourglass::zmq
