// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "messages/job.h"
#include "messages/message_type.h"

namespace hourglass {

/// Aggregator -> a process that may take part.
struct Welcome {
  static constexpr MessageType kType = MessageType::welcome;
  std::uint32_t protocol = kProtocolMax;  ///< chosen from both ranges
  std::uint64_t run = 0;                  ///< random per run
  std::uint32_t generation = 0;           ///< of the aggregator, rises with its restarts
  std::uint32_t attempt = 0;              ///< of the Hello that this answers
  std::uint64_t first_clock = 0;          ///< of the first push: later than any push of an earlier membership of the same process
  std::uint32_t number = 0;               ///< this worker's small number within its role
  bool has_marks = false;                 ///< what follows is known: this process was a member before, and nobody else settled its pushes
  std::uint64_t contained = 0;            ///< its pushes below this clock are settled; later ones that it may have made are void
  std::uint64_t rejected = 0;             ///< of the 64 clocks below `contained`: bit i set where push contained - 1 - i was rejected
  bool has_state = false;                 ///< there is a state to go on from: StateRequest
  std::uint64_t model_hash = 0;           ///< of the parameter layout that the aggregator computed from the job
  Job job;

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.number(m.protocol);
    v.number(m.run);
    v.number(m.generation);
    v.number(m.attempt);
    v.number(m.first_clock);
    v.number(m.number);
    v.flag(m.has_marks);
    v.number(m.contained);
    v.number(m.rejected);
    v.flag(m.has_state);
    v.number(m.model_hash);
    v.group(m.job);
  }
};

}  // namespace hourglass
