// SPDX-License-Identifier: Apache-2.0
// Who is it that everybody waits for, when no push comes? Whoever is silent; or, where a bound holds a group up, its slowest.
#pragma once

#include <map>
#include <string>

#include "actors/aggregator/member_table.h"
#include "actors/group_server.h"

namespace hourglass {

class StallWatch {
 public:
  /// Each second: "waiting for conv-worker-2 at step 17, silent for 4 s", or "" where pushes come or it cannot be told. The log gets a
  /// line a minute for each that is waited for.
  std::string look(Context& context, const GroupServer& group, const MemberTable& members);

 private:
  std::uint64_t received_ = 0;
  Instant since_{};  ///< nothing has come since then
  std::map<ActorId, Instant> told_;
};

}  // namespace hourglass
