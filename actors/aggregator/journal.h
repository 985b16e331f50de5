// SPDX-License-Identifier: Apache-2.0
// What was decided about each push, written before its sender is told: a restarted aggregator knows from it what a checkpoint does not
// contain. A segment begins with each checkpoint and has its number, so a checkpoint's journal is its own segment and those that follow.
// Records have 32 bytes, the last four their checksum; a torn one ends its segment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "messages/message_type.h"
#include "messages/push_verdict.h"
#include "runtime/storage.h"

namespace hourglass {

struct JournalEntry {
  ActorId from;
  Group group = Group::conv;
  std::uint64_t clock = 0;
  Verdict verdict = Verdict::applied;
  std::uint64_t bytes = 0;  ///< of the push's blocks
};

class Journal {
 public:
  static constexpr std::string_view kPrefix = "journal-";
  static constexpr std::size_t kRecordBytes = 32;

  static std::string file_name(std::uint64_t number);
  /// The number of a segment's name; empty where it is none.
  static std::optional<std::uint64_t> number_of(std::string_view file);

  /// What follows goes to this segment, behind what it holds; a torn record at its end is cut off. Errors: io.
  Status begin(Storage& storage, std::uint64_t number);
  Status append(Storage& storage, const JournalEntry& entry);
  [[nodiscard]] std::uint64_t number() const { return number_; }

  struct Read {
    std::vector<JournalEntry> entries;
    std::vector<std::string> torn;  ///< files that end in something that is no record
  };
  /// All entries since that checkpoint, in order. Errors: io.
  static Result<Read> read(Storage& storage, std::uint64_t from);
  /// The highest number of a segment; 0 where there is none. Errors: io.
  static Result<std::uint64_t> newest(Storage& storage);
  /// Removes segments below `oldest`. Errors: io.
  static Status prune(Storage& storage, std::uint64_t oldest);

 private:
  std::uint64_t number_ = 0;
};

}  // namespace hourglass
