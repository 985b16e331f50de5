// SPDX-License-Identifier: Apache-2.0
// The event log as JSON lines: what /api/v1/log answers, and the run folder's events.jsonl.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "actors/monitor.h"
#include "base/result.h"
#include "services/dashboard/board.h"
#include "services/hosting/newest_writer.h"

namespace hourglass {

inline constexpr const char* kEventLogFile = "events.jsonl";

/// {"id": 3, "time": "2026-01-31T23:59:59.123Z", "level": "warning", "text": "CONV worker 2 (node-2) is gone"}, without a line break.
/// Valid JSON whatever the text holds.
std::string event_line(const Event& event);

/// A line for each event whose id is `from` or more. Ids count from 1 in each life of a monitor: a `from` that is beyond the next one is of
/// an earlier life, and gets all.
std::string event_lines(const Findings& findings, std::uint64_t from);

/// Appends each event once, from a thread of its own, so that a slow disk holds up nobody.
class EventLog final : public StateSink {
 public:
  static constexpr std::uint64_t kBytesMax = 16U << 20;  ///< then the file becomes <file>.1, in place of an earlier one

  /// `board` gets every state first, and finds the events; it must outlive this.
  EventLog(std::string file, Board& board, Complain complain, std::uint64_t bytes_max = kBytesMax);
  void publish(std::shared_ptr<const DashboardState> state) override;

 private:
  Status write(const Findings& findings);
  [[nodiscard]] Status append(const std::string& lines) const;

  std::string file_;
  Board& board_;
  std::uint64_t bytes_max_;
  std::uint64_t next_ = 1;  ///< id of the event to write; of the writer's thread
  NewestWriter<Findings> writer_;
};

}  // namespace hourglass
