// SPDX-License-Identifier: Apache-2.0
#include "actors/aggregator/journal.h"

#include <gtest/gtest.h>

#include "runtime/sim/memory_storage.h"

namespace hourglass {
namespace {

JournalEntry entry(std::uint32_t worker, std::uint64_t clock, Verdict verdict = Verdict::applied) {
  return {{Role::conv_worker, worker}, Group::conv, clock, verdict, 100 + clock};
}

TEST(Journal, TellsWhatWasDecidedSinceACheckpointInOrder) {
  sim::MemoryStorage storage;
  Journal journal;
  for (std::uint64_t segment = 0; segment < 12; ++segment) {
    ASSERT_TRUE(journal.begin(storage, segment).ok());
    ASSERT_TRUE(journal.append(storage, entry(7, segment)).ok());
  }
  ASSERT_TRUE(journal.append(storage, {{Role::fc_worker, 8}, Group::fc, 3, Verdict::stale, 1}).ok());
  const auto read = Journal::read(storage, 9);
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(read->entries.size(), 4U);
  EXPECT_EQ(read->entries[0].clock, 9U);
  EXPECT_EQ(read->entries[1].clock, 10U);
  const JournalEntry& last = read->entries[3];
  EXPECT_EQ(last.from, (ActorId{Role::fc_worker, 8}));
  EXPECT_EQ(last.group, Group::fc);
  EXPECT_EQ(last.verdict, Verdict::stale);
  EXPECT_EQ(last.bytes, 1U);
  EXPECT_TRUE(read->torn.empty());
  EXPECT_EQ(Journal::newest(storage).value(), 11U);
  ASSERT_TRUE(Journal::prune(storage, 10).ok());
  EXPECT_EQ(storage.files().size(), 2U);
  EXPECT_EQ(Journal::read(storage, 0)->entries.size(), 3U);
}

TEST(Journal, K2_ATornRecordEndsItsSegmentAndIsCutOffBeforeMoreIsAdded) {
  for (std::size_t torn = 1; torn < Journal::kRecordBytes; ++torn) {
    sim::MemoryStorage storage;
    Journal journal;
    ASSERT_TRUE(journal.begin(storage, 1).ok());
    for (std::uint64_t clock = 0; clock < 3; ++clock) ASSERT_TRUE(journal.append(storage, entry(7, clock)).ok());
    Bytes& file = storage.files().at(Journal::file_name(1));
    file.resize(file.size() - torn);
    const auto read = Journal::read(storage, 0);
    ASSERT_EQ(read->entries.size(), 2U) << torn;
    ASSERT_EQ(read->torn, std::vector<std::string>{Journal::file_name(1)});
    ASSERT_TRUE(journal.begin(storage, 1).ok());
    ASSERT_TRUE(journal.append(storage, entry(9, 5)).ok());
    const auto again = Journal::read(storage, 0);
    ASSERT_EQ(again->entries.size(), 3U);
    ASSERT_EQ(again->entries[2].from.index, 9U);
    ASSERT_TRUE(again->torn.empty());
  }
}

TEST(Journal, EveryFlippedByteOfARecordIsNoticed) {
  sim::MemoryStorage storage;
  Journal journal;
  ASSERT_TRUE(journal.begin(storage, 1).ok());
  ASSERT_TRUE(journal.append(storage, entry(7, 0)).ok());
  Bytes& file = storage.files().at(Journal::file_name(1));
  ASSERT_EQ(file.size(), Journal::kRecordBytes);
  for (std::byte& byte : file) {
    byte ^= std::byte{4};
    EXPECT_TRUE(Journal::read(storage, 0)->entries.empty());
    byte ^= std::byte{4};
  }
  EXPECT_EQ(Journal::read(storage, 0)->entries.size(), 1U);
}

TEST(Journal, OnlySegmentsAreItsFiles) {
  EXPECT_EQ(Journal::number_of(Journal::file_name(123)), 123U);
  for (const char* other :
       {"journal-.log", "journal-1", "journal-x1.log", "journal.log", "checkpoint-00000001.hgck", "journal-1.log.tmp"}) {
    EXPECT_FALSE(Journal::number_of(other).has_value()) << other;
  }
}

}  // namespace
}  // namespace hourglass
