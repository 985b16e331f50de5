// SPDX-License-Identifier: Apache-2.0
#include "learning/params/checkpoint_file.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace hourglass::params {
namespace {

Bytes filled(std::size_t size, std::uint64_t seed) {
  Random random(seed);
  Bytes out(size);
  for (std::byte& each : out) each = static_cast<std::byte>(random.next());
  return out;
}

std::vector<Section> example() {
  return {{"meta", filled(100, 1)}, {"empty", {}}, {"parameters", filled(4000, 2)}, {"worker.conv.0", filled(7, 3)}};
}

TEST(CheckpointFile, ReadsWhatWasWritten) {
  const auto read = read_checkpoint(write_checkpoint(example()));
  ASSERT_TRUE(read.ok()) << read.error().text;
  ASSERT_EQ(read->size(), 4U);
  const std::vector<Section> wanted = example();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ((*read)[i].name, wanted[i].name);
    EXPECT_EQ((*read)[i].bytes, wanted[i].bytes);
  }
  ASSERT_NE(find_section(*read, "parameters"), nullptr);
  EXPECT_EQ(find_section(*read, "parameters")->bytes, filled(4000, 2));
  EXPECT_EQ(find_section(*read, "no_such"), nullptr);
  EXPECT_TRUE(read_checkpoint(write_checkpoint({})).ok());
}

TEST(CheckpointFile, K1_EveryCutIsRefused) {
  const Bytes whole = write_checkpoint(example());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto read = read_checkpoint(std::span(whole).first(size));
    ASSERT_FALSE(read.ok()) << size;
    ASSERT_EQ(read.error().code, Errc::malformed) << size;
  }
  Bytes longer = whole;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(read_checkpoint(longer).ok());
}

TEST(CheckpointFile, K1_EveryFlippedByteIsRefused) {
  const Bytes whole = write_checkpoint(example());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    Bytes damaged = whole;
    damaged[at] ^= std::byte{0x10};
    ASSERT_FALSE(read_checkpoint(damaged).ok()) << at;
  }
}

TEST(CheckpointFile, ANewerFormatIsRefusedByName) {
  Bytes file = write_checkpoint(example());
  file[8] = std::byte{9};
  const auto read = read_checkpoint(file);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code, Errc::unsupported);
  EXPECT_NE(read.error().text.find("format 9 is newer than what this build reads (1)"), std::string::npos) << read.error().text;
}

TEST(CheckpointFile, ErrorsNameThePlace) {
  Bytes file = write_checkpoint(example());
  file.back() ^= std::byte{1};
  EXPECT_EQ(read_checkpoint(file).error().text, "checkpoint: section 'worker.conv.0' is damaged");
  file.erase(file.end() - 20, file.end());
  EXPECT_NE(read_checkpoint(file).error().text.find("in section 'parameters'"), std::string::npos);
  EXPECT_NE(read_checkpoint(as_span("{\"no\": 1}")).error().text.find("no checkpoint"), std::string::npos);
  EXPECT_EQ(read_checkpoint({}).error().text, "checkpoint: the file is empty");
}

TEST(CheckpointFile, HostileCountsAllocateNothing) {
  Bytes file = write_checkpoint({});
  for (std::size_t i = 12; i < 24; ++i) file[i] = std::byte{0xff};
  EXPECT_EQ(read_checkpoint(file).error().code, Errc::over_limit);
}

}  // namespace
}  // namespace hourglass::params
