// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "messages/run_phase.h"

namespace hourglass {

/// A worker -> aggregator: "I have done what this phase asks of me". Repeated until the phase changes.
struct PhaseReached {
  static constexpr MessageType kType = MessageType::phase_reached;
  std::uint32_t generation = 0;
  Phase phase = Phase::waiting;
  std::uint64_t version = 0;  ///< of the sender's parameter group
  std::uint32_t digest = 0;   ///< checksum() of its values: equal versions must be equal bit for bit

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.number(m.generation);
    v.choice(m.phase, kLastPhase);
    v.number(m.version);
    v.number(m.digest);
  }
};

}  // namespace hourglass
