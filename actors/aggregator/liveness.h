// SPDX-License-Identifier: Apache-2.0
// Which members are dead, by their silence.
#pragma once

#include <vector>

#include "actors/aggregator/member_table.h"
#include "runtime/context.h"

namespace hourglass {

class Liveness {
 public:
  explicit Liveness(Instant now) : looked_(now) {}

  /// Each second: those that are to be removed, counted and logged. Dead is who has been silent for `dead_after`, or for less where its own
  /// host says that nobody is there any more. Where this process itself stood still, nobody could be heard: that time counts against none.
  std::vector<ActorId> look(Context& context, MemberTable& members, Duration dead_after, std::uint32_t generation);

 private:
  Instant looked_;
};

}  // namespace hourglass
