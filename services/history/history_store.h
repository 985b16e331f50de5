// SPDX-License-Identifier: Apache-2.0
// What is left of a run when its monitor is gone: one SQLite file (WAL) with the run's summary, its settings, its evaluations, and its
// curves at 1, 10 and 60 s. SQLite ends in history_store.cc.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/monitor_state.h"
#include "base/result.h"

struct sqlite3;

namespace hourglass {

inline constexpr const char* kHistoryFile = "history.db";

/// One run, as it was when the newest state was stored. Negative or kUnknown: not known.
struct RunSummary {
  std::string id;  ///< 16 hexadecimal digits
  std::string model, dataset, phase, build, alarm;
  std::uint32_t generation = 0, workers = 0;
  std::int64_t started_ms = 0, updated_ms = 0;  ///< Unix time of the first and of the newest state
  double seconds = 0;                           ///< of training
  std::uint64_t samples_done = 0, samples_total = 0;
  double loss = kUnknown, test_loss = kUnknown, accuracy = kUnknown;
  double sent_bytes = 0;
  std::uint64_t received = 0, applied = 0, rejected = 0, rolled_back = 0;
  bool balanced = true;  ///< received = applied + rejected + rolled_back, in each group
};

struct HistoryPoint {
  double time = 0;
  float mean = 0, least = 0, greatest = 0;
};

using KeyedTexts = std::vector<std::pair<std::string, std::string>>;

/// Not for several threads at once. Other processes may read while one writes.
class HistoryStore {
 public:
  static constexpr int kSchema = 2;  ///< PRAGMA user_version
  /// Rows kept at 1, 10 and 60 s: 4 h, 2 days, 69 days.
  static constexpr std::array<std::size_t, 3> kRowsMax = {14400, 17280, 100000};

  /// Opens or makes `file` and brings an older schema up to date. `schema`: for tests of that. Errors: unsupported (of a newer build),
  /// bad_data (no such database), io.
  static Result<std::unique_ptr<HistoryStore>> open(const std::string& file, int schema = kSchema);
  /// For reading, a file that is there. One of an older schema is brought up to date first.
  static Result<std::unique_ptr<HistoryStore>> open_existing(const std::string& file);
  /// The same, and nothing is written: one of another schema is refused as unsupported.
  static Result<std::unique_ptr<HistoryStore>> open_as_it_is(const std::string& file);
  ~HistoryStore();
  HistoryStore(const HistoryStore&) = delete;
  HistoryStore& operator=(const HistoryStore&) = delete;

  /// One transaction. A state without a run stores nothing. Rows that a resumed run goes over again replace the earlier ones.
  Status store(const DashboardState& state, const KeyedTexts& settings, std::int64_t unix_ms);

  /// Newest first.
  Result<std::vector<RunSummary>> runs();
  Result<KeyedTexts> settings(const std::string& run);
  Result<std::vector<HistoryRow>> evaluations(const std::string& run);
  /// Of one column, as "loss", at 1, 10 or 60 s, in order of time.
  Result<std::vector<HistoryPoint>> series(const std::string& run, int step_seconds, const std::string& column);

 private:
  explicit HistoryStore(sqlite3* database) : database_(database) {}
  static Result<std::unique_ptr<HistoryStore>> connect(const std::string& file, int flags);
  Status migrate(int schema);
  Status store_rows(const DashboardState& state, const KeyedTexts& settings, std::int64_t unix_ms);
  Status store_ring(const std::string& run, const SeriesRing& ring, std::size_t index);

  sqlite3* database_;
  std::string settings_stored_of_;            ///< run
  std::array<double, 3> newest_{-1, -1, -1};  ///< time of the newest stored row, by resolution
  std::array<std::string, 3> newest_of_;      ///< and its run
};

}  // namespace hourglass
