// SPDX-License-Identifier: Apache-2.0
// The rounds of a synchronous FC worker: one batch of every CONV worker that it serves, in one step where that can be.
#pragma once

#include <set>
#include <vector>

#include "base/ids.h"

namespace hourglass {

class SynchronousRound {
 public:
  /// Is a batch of each of `expected` either among `here` or already taken in this round? A second batch of a worker says that its round is
  /// over, whatever became of the others' batches: only then does it send one.
  bool complete(const std::vector<ActorId>& expected, const std::vector<ActorId>& here);
  /// These were taken, all that is needed or not.
  void take(const std::vector<ActorId>& expected, const std::vector<ActorId>& here);

 private:
  std::set<ActorId> taken_;  ///< in a round that had to be split
};

}  // namespace hourglass
