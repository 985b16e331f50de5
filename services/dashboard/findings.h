// SPDX-License-Identifier: Apache-2.0
// What the dashboard makes of the states that it is told one after the other: who waits for whom, what is wrong now, what has happened.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"

namespace hourglass {

enum class Level : std::uint8_t { info, warning, error };
constexpr std::string_view name_of(Level level) { return level == Level::info ? "info" : level == Level::warning ? "warning" : "error"; }

/// One line of the event log.
struct Event {
  std::uint64_t id = 0;  ///< rises by one
  std::int64_t unix_ms = 0;
  Level level = Level::info;
  std::string text;
};

/// Something wrong that has not passed yet.
struct Alert {
  std::string kind;  ///< "straggler"; with `who` it names the alert
  ActorId who;       ///< the aggregator where it concerns the whole run
  Level level = Level::warning;
  std::string text;
  std::int64_t since_ms = 0;  ///< Unix time
};

/// A worker that makes no step, though it could.
struct Wait {
  std::vector<ActorId> on;  ///< whom it waits for; empty where that cannot be told
  std::string text;         ///< "CONV worker 2 at clock 17"
  double seconds = 0;       ///< since its own clock moved
};

/// How many 32-bit values the run's messages would carry if nothing were compressed.
struct ModelSizes {
  std::uint64_t conv = 0;      ///< parameters of the CONV group: of one push
  std::uint64_t fc = 0;        ///< of the FC group; 0 where the model is not cut
  std::uint64_t boundary = 0;  ///< activations of one sample at the cut; 0 where there is none
};

struct Findings {
  ModelSizes sizes;           ///< zeros where they are not known
  std::vector<Alert> alerts;  ///< the gravest first
  std::deque<Event> events;   ///< the newest Watch::kEventsMax
  std::map<ActorId, Wait> waits;
  std::map<ActorId, std::uint32_t> restarts;  ///< see Joins; who has none is left out
};

}  // namespace hourglass
