// SPDX-License-Identifier: Apache-2.0
#include "actors/round.h"

#include <algorithm>

namespace hourglass {

bool SynchronousRound::complete(const std::vector<ActorId>& expected, const std::vector<ActorId>& here) {
  if (std::any_of(here.begin(), here.end(), [&](ActorId id) { return taken_.contains(id); })) taken_.clear();
  return std::all_of(expected.begin(), expected.end(),
                     [&](ActorId id) { return taken_.contains(id) || std::find(here.begin(), here.end(), id) != here.end(); });
}

void SynchronousRound::take(const std::vector<ActorId>& expected, const std::vector<ActorId>& here) {
  const bool whole = complete(expected, here);
  taken_.insert(here.begin(), here.end());
  if (whole) taken_.clear();
}

}  // namespace hourglass
