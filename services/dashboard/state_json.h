// SPDX-License-Identifier: Apache-2.0
// The dashboard's JSON, version 1. Names of quantities end in their unit; what is not known is null; strings of the network stay strings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "actors/monitor_state.h"
#include "services/dashboard/findings.h"

namespace hourglass {

/// How much of the run's history a state carries: all rows, the newest kSnapshotHistoryRows, or the newest two.
enum class Detail { full, snapshot, newest };
inline constexpr std::size_t kSnapshotHistoryRows = 500;

/// The newest events that a state carries for those who have the earlier ones.
inline constexpr std::size_t kNewestEvents = 10;

/// One line of valid JSON whatever the strings hold. "history_from" is the index of the first row in "history", "events" go up by "id".
std::string state_json(const DashboardState& state, std::int64_t unix_ms, Detail detail, const Findings& findings = {});

/// The curves as columns. `step`: 1, 10 or 60 seconds; absent: the whole run, each stretch at the finest step that still has it.
/// Empty where `step` is none of these.
std::optional<std::string> series_json(const DashboardState& state, std::optional<int> step);

/// {"error": {"status": 404, "text": "..."}}
/// Of a command that was taken.
std::string command_json(std::uint64_t number, Order order);
std::string error_json(unsigned status, std::string_view text);

/// Sums over the parameter groups, as page and metrics show them.
struct LedgerSums {
  std::uint64_t received = 0, applied = 0, rejected = 0, rolled_back = 0, duplicates = 0;
  bool balanced = true;                          ///< received = applied + rejected + rolled_back, in each group
  double staleness_max = 0, staleness_mean = 0;  ///< the mean over applied pushes
};
LedgerSums ledger_sums(const RunStatus& status);
std::uint64_t count_of(const GroupStatus& group, Verdict verdict);

}  // namespace hourglass
