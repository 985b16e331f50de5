// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "messages/fields.h"
#include "messages/message_type.h"

namespace hourglass {

enum class Phase : std::uint8_t {
  waiting,  ///< for the first workers
  training,
  flushing,    ///< data is used up: workers push what they still hold, then take the final parameters
  collecting,  ///< the only FC worker's state travels to the aggregator
  evaluating,  ///< the final parameters on the test set
  finished,    ///< everything is saved: leave
  pausing,     ///< asked to stop: workers end what is under way and tell their state, so that the run can be resumed
};
inline constexpr Phase kLastPhase = Phase::pausing;
std::string_view name_of(Phase phase);
/// A run's phases only go on, and pausing leads to finished alone.
constexpr std::uint8_t order_of(Phase phase) {
  if (phase == Phase::pausing) return static_cast<std::uint8_t>(Phase::finished);
  return static_cast<std::uint8_t>(phase) + (phase == Phase::finished ? 1 : 0);
}

/// Aggregator -> everyone, at each change and to everyone who joins.
struct RunPhase {
  static constexpr MessageType kType = MessageType::run_phase;
  std::uint32_t generation = 0;
  Phase phase = Phase::waiting;
  bool held = false;  ///< in training: the data loader hands out no batch until people let it go on

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.number(m.generation);
    v.choice(m.phase, kLastPhase);
    v.flag(m.held);
  }
};

}  // namespace hourglass
