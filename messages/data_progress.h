// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "messages/fields.h"
#include "messages/message_type.h"

namespace hourglass {

/// Data loader -> aggregator, twice a second and at the end; aggregator -> data loader: where to begin, as a new loader takes over from a
/// lost one.
struct DataProgress {
  static constexpr MessageType kType = MessageType::data_progress;
  std::uint32_t epoch = 0;             ///< being handed out, from 0
  std::uint64_t samples_total = 0;     ///< that the run will use
  std::uint64_t samples_done = 0;      ///< whose lease was completed
  std::uint64_t samples_repeated = 0;  ///< handed out again because a worker was lost with them
  double loss = 0;                     ///< mean training loss of the newest leases (exponential mean)
  bool finished = false;               ///< every lease of training data is done

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.number(m.epoch);
    v.number(m.samples_total);
    v.number(m.samples_done);
    v.number(m.samples_repeated);
    v.real(m.loss);
    v.flag(m.finished);
  }
};

}  // namespace hourglass
