// SPDX-License-Identifier: Apache-2.0
// What the processes did in the last minute, as a Chrome trace (chrome://tracing, ui.perfetto.dev) and for the page's timeline.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/monitor_state.h"

namespace hourglass {

/// Times in microseconds of the monitor's clock; may be below zero: a process may be older than its monitor.
struct PlacedSpan {
  SpanKind kind{};
  std::int64_t begin_us = 0, end_us = 0;
  std::uint64_t flow_in = 0, flow_out = 0;
  std::size_t lane = 0;
};

/// More at a time than any process does; what would need another lane is left out.
inline constexpr std::size_t kLanesMax = 8;

/// By begin. Those that overlap are on different lanes, each on the lowest that is free.
std::vector<PlacedSpan> place_spans(const ActorSpans& actor);

/// The Chrome trace event format: a process for each actor, a thread for each lane, "X" for spans, "s" and "f" for flows of which both ends
/// are at hand. Times count from the first span.
std::string trace_json(const DashboardState& state);

/// {"kinds": [...], "seconds": 10, "rows": [{"id", "role", "number", "host", "lanes", "dropped", "spans": [[kind, lane, begin, length],
/// ...]}, ...]}: the last `seconds`; milliseconds, counted from now, so begins are below zero. At most kTimelineSpans spans, the newest of
/// each row.
std::string timeline_json(const DashboardState& state, int seconds);
inline constexpr std::size_t kTimelineSpans = 8192;

}  // namespace hourglass
