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
    v.number(m.model_hash);
    v.group(m.job);
  }
};

}  // namespace hourglass
