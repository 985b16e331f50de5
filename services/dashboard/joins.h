// SPDX-License-Identifier: Apache-2.0
// How often each process has joined again, as far as the states told: a restarted process has a new id, but its name and role stay.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "actors/monitor_state.h"

namespace hourglass {

class Joins {
 public:
  static constexpr std::size_t kNamesMax = 4096;  ///< further ones are not counted

  /// States in the order in which they were published. At the end of a run nothing is counted.
  void look(const DashboardState& state);
  /// Of each process in `state` that has joined again, or whose namesake before it has. Several of one name at a time are no restarts.
  [[nodiscard]] std::map<ActorId, std::uint32_t> restarts(const DashboardState& state) const;

 private:
  using Name = std::pair<Role, std::string>;
  std::map<Name, std::uint32_t> joined_;
  std::map<ActorId, bool> here_;  ///< in the state before: true where it was not gone
  std::uint64_t run_ = 0;
};

}  // namespace hourglass
