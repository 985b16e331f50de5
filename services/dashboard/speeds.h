// SPDX-License-Identifier: Apache-2.0
// Samples per second of each worker over the last minutes: for the small curves beside their names.
#pragma once

#include <deque>
#include <map>
#include <string>

#include "actors/monitor_state.h"

namespace hourglass {

class Speeds {
 public:
  static constexpr std::size_t kRowsMax = 300;      ///< of a worker, one a second
  static constexpr std::size_t kWorkersMax = 1024;  ///< further ones are left out

  /// States in the order in which they were published; at most one row a second is kept. Who is no longer shown is forgotten.
  void look(const DashboardState& state);
  /// {"sequence": of the newest state, "step_seconds": 1, "workers": {"conv-worker:0000002a": [oldest, ..., newest]}}; null where it was
  /// not known.
  [[nodiscard]] std::string json() const;

 private:
  std::map<ActorId, std::deque<float>> rows_;
  std::uint64_t sequence_ = 0;
  double newest_ = -1;  ///< uptime of the newest row
};

}  // namespace hourglass
