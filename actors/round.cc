// SPDX-License-Identifier: Apache-2.0
#include "actors/round.h"

#include <algorithm>

namespace hourglass {

SynchronousRound::Place SynchronousRound::came(ActorId from, std::uint64_t version) {
  const auto [row, fresh] = newest_.try_emplace(from, Place{version, 0});
  Place& newest = row->second;
  if (!fresh) newest = newest.version == version ? Place{version, newest.ordinal + 1} : Place{version, 0};
  return newest;
}

bool SynchronousRound::complete(const std::vector<ActorId>& expected, std::span<const Place> here) const {
  if (here.empty()) return false;
  const Place round = *std::min_element(here.begin(), here.end());
  return std::all_of(expected.begin(), expected.end(), [&](ActorId id) {
    const auto newest = newest_.find(id);
    return newest != newest_.end() && newest->second >= round;
  });
}

}  // namespace hourglass
