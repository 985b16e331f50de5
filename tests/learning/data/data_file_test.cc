// SPDX-License-Identifier: Apache-2.0
#include "learning/data/data_file.h"

#include <sys/stat.h>

#include "tests/learning/data/fixtures.h"

namespace hourglass::data {
namespace {

bool mentions(const Error& error, std::string_view text) { return error.text.find(text) != std::string::npos; }

TEST(DataFile, ReadsPlainAndGzipAlike) {
  const Bytes content = ramp(100'000);
  for (const Bytes& raw : {content, gzip(content)}) {
    DataFile file("some", raw);
    const Result<Bytes> head = file.take(10, "head");
    ASSERT_TRUE(head.ok());
    EXPECT_EQ(*head, Bytes(content.begin(), content.begin() + 10));
    const Result<Bytes> rest = file.take(content.size() - 10, "rest");
    ASSERT_TRUE(rest.ok()) << rest.error().text;
    EXPECT_EQ(*rest, Bytes(content.begin() + 10, content.end()));
    EXPECT_TRUE(file.end().ok());
  }
}

TEST(DataFile, JoinsGzipMembers) {
  DataFile file("two", joined(gzip(ramp(300)), gzip(ramp(200, 5))));
  const Result<Bytes> all = file.take(500, "both");
  ASSERT_TRUE(all.ok()) << all.error().text;
  EXPECT_EQ(*all, joined(ramp(300), ramp(200, 5)));
  EXPECT_TRUE(file.end().ok());
}

TEST(DataFile, ReadTellsTheEnd) {
  for (const Bytes& raw : {ramp(30), gzip(ramp(30))}) {
    DataFile file("short", raw);
    Bytes out(64);
    const Result<std::size_t> first = file.read(out);
    ASSERT_TRUE(first.ok());
    EXPECT_EQ(*first, 30U);
    const Result<std::size_t> second = file.read(out);
    ASSERT_TRUE(second.ok());
    EXPECT_EQ(*second, 0U);
  }
}

TEST(DataFile, RefusesEveryTruncationOfGzip) {
  const Bytes content = ramp(200);
  const Bytes whole = gzip(content);
  for (std::size_t size = 2; size < whole.size(); ++size) {
    DataFile file("cut.gz", Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
    const Result<Bytes> got = file.take(content.size(), "content");
    const Status end = got ? file.end() : Status(got.error());
    ASSERT_FALSE(end.ok()) << size;
    EXPECT_EQ(end.error().code, Errc::bad_data);
    EXPECT_TRUE(mentions(end.error(), "cut.gz: truncated")) << end.error().text;
  }
}

TEST(DataFile, RefusesAWrongChecksum) {
  Bytes raw = gzip(ramp(200));
  raw[raw.size() - 8] ^= std::byte{1};  // of the CRC
  DataFile file("flipped.gz", raw);
  const Result<Bytes> got = file.take(200, "content");
  const Status end = got ? file.end() : Status(got.error());
  ASSERT_FALSE(end.ok());
  EXPECT_TRUE(mentions(end.error(), "damaged gzip data")) << end.error().text;
}

TEST(DataFile, RefusesTrailingBytes) {
  for (const Bytes& raw : {ramp(31), gzip(ramp(31)), joined(gzip(ramp(30)), ramp(4)), joined(gzip(ramp(30)), gzip(ramp(1)))}) {
    DataFile file("long", raw);
    ASSERT_TRUE(file.take(30, "content").ok());
    const Status end = file.end();
    ASSERT_FALSE(end.ok());
    EXPECT_EQ(end.error().code, Errc::bad_data);
  }
}

TEST(DataFile, RefusesClaimsBeforeTakingMemory) {
  const Bytes small = gzip(ramp(1000));
  DataFile absurd("absurd", small);
  const Result<Bytes> beyond = absurd.take(kDataFileBytesMax + 1, "images");
  ASSERT_FALSE(beyond.ok());
  EXPECT_EQ(beyond.error().code, Errc::over_limit);
  for (const Bytes& raw : {small, ramp(1000)}) {
    DataFile file("claim", raw);
    const Result<Bytes> got = file.take(kDataFileBytesMax, "images");
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(got.error().code, Errc::bad_data);
    EXPECT_TRUE(mentions(got.error(), "truncated: expected 268435456 bytes of images")) << got.error().text;
  }
}

TEST(DataFile, AHighlyCompressedFileIsReadOnlyAsFarAsAsked) {
  const Bytes zeros(std::size_t{64} << 20);
  DataFile bomb("zeros.gz", gzip(zeros));
  ASSERT_TRUE(bomb.take(1000, "header").ok());
  const Status end = bomb.end();
  ASSERT_FALSE(end.ok());
  EXPECT_TRUE(mentions(end.error(), "more data"));
}

TEST(DataFile, OpensTheFirstThatExists) {
  const TemporaryFolder folder;
  folder.write("b.gz", gzip(ramp(5)));
  const std::string stem = folder.path() + "/b";
  Result<DataFile> file = DataFile::open({stem, stem + ".gz"});
  ASSERT_TRUE(file.ok()) << file.error().text;
  EXPECT_EQ(file->name(), stem + ".gz");
  const Result<Bytes> got = file->take(5, "all");
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(*got, ramp(5));
}

TEST(DataFile, NamesWhatItLookedFor) {
  const TemporaryFolder folder;
  const Result<DataFile> file = DataFile::open({folder.path() + "/x", folder.path() + "/x.gz"});
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().code, Errc::bad_data);
  EXPECT_TRUE(mentions(file.error(), folder.path() + "/x, " + folder.path() + "/x.gz")) << file.error().text;
}

TEST(DataFile, RefusesWhatIsNoRegularFile) {
  const TemporaryFolder folder;
  const std::string pipe = folder.path() + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {pipe, folder.path()}) {
    const Result<DataFile> file = DataFile::open({path});
    ASSERT_FALSE(file.ok());
    EXPECT_TRUE(mentions(file.error(), "regular file")) << file.error().text;
  }
}

TEST(DataFile, RefusesHugeFilesUnread) {
  const TemporaryFolder folder;
  folder.write("huge", {});
  std::filesystem::resize_file(folder.path() + "/huge", kDataFileBytesMax + 1);  // sparse
  const Result<DataFile> file = DataFile::open({folder.path() + "/huge"});
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().code, Errc::over_limit);
}

}  // namespace
}  // namespace hourglass::data
