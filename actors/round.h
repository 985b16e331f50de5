// SPDX-License-Identifier: Apache-2.0
// The rounds of a synchronous FC worker: one batch of every CONV worker that it serves, in one step where that can be.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/ids.h"

namespace hourglass {

class SynchronousRound {
 public:
  /// Which round a batch belongs to: all CONV workers of a round read the same version, and forward the same number of batches with it.
  struct Place {
    std::uint64_t version = 0;
    std::uint32_t ordinal = 0;  ///< of the sender's batches of this version
    auto operator<=>(const Place&) const = default;
  };

  /// A batch of `from` has come, forwarded with `version`.
  Place came(ActorId from, std::uint64_t version);
  /// Has each of `expected` sent its batch of the earliest round among `here`, those that no step has taken yet? One that is in a later
  /// round has had its batch of this one taken: it may wait for the others' pushes, and sends nothing before them.
  [[nodiscard]] bool complete(const std::vector<ActorId>& expected, std::span<const Place> here) const;
  void forget(ActorId gone) { newest_.erase(gone); }

 private:
  std::map<ActorId, Place> newest_;
};

}  // namespace hourglass
