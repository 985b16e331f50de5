// SPDX-License-Identifier: Apache-2.0
// The text exposition format 0.0.4 of Prometheus, written by hand: it is a hundred lines.
#pragma once

#include <cstdint>
#include <string>

#include "actors/monitor_state.h"

namespace hourglass {

/// The dashboard's own counters.
struct ServerFigures {
  std::uint64_t requests = 0;
  std::uint64_t streams = 0;
  std::uint64_t events_dropped = 0;
};

/// Every family has HELP and TYPE, every label set that is known beforehand is there from the start.
std::string prometheus_text(const DashboardState& state, const ServerFigures& server);

}  // namespace hourglass
