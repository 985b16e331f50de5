// SPDX-License-Identifier: Apache-2.0
// Looks at the clocks of a simulated cluster before each message is handled: how far a CONV worker's unit of work is ahead of what the
// slowest has pushed. It believes nobody's account of the bound: units are what workers say they compute, pushes are what has arrived.
#pragma once

#include <cstdint>
#include <map>

#include "runtime/sim/sim_reactor.h"

namespace hourglass {

class ClockWatch {
 public:
  /// Of this reactor's cluster, as long as that runs. Members that join later, or leave, are not accounted for.
  explicit ClockWatch(sim::SimReactor& reactor);

  /// Most clocks between the fastest and the slowest of those that had data, at any instant so far.
  [[nodiscard]] std::uint64_t gap_max() const { return gap_max_; }

 private:
  struct Worker {
    std::uint64_t pushed = 0;
    bool active = true;
  };
  void look(const sim::Delivery& delivery);
  sim::SimReactor& reactor_;
  std::map<ActorId, Worker> workers_;
  std::uint64_t gap_max_ = 0;
};

}  // namespace hourglass
