// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "messages/fields.h"
#include "messages/message_type.h"

namespace hourglass {

/// Data loader -> aggregator, twice a second and at the end; aggregator -> data loader: where to begin, as a new loader takes over from a
/// lost one, or a restarted aggregator goes on from a checkpoint.
struct DataProgress {
  static constexpr MessageType kType = MessageType::data_progress;
  std::uint32_t generation = 0;
  std::uint32_t epoch = 0;             ///< being handed out, from 0
  std::uint64_t samples_total = 0;     ///< that the run will use
  std::uint64_t samples_done = 0;      ///< whose lease was completed
  std::uint64_t samples_repeated = 0;  ///< handed out again because a worker was lost with them
  double loss = 0;                     ///< mean training loss of the newest leases (exponential mean)
  bool finished = false;               ///< every lease of training data is done
  std::uint64_t evaluated = 0;         ///< samples done at the newest evaluation that is complete
  // The cursor. A sample's position counts from the run's first one, in the order in which they are handed out.
  std::uint64_t handed_out = 0;           ///< positions below this were given to a worker, once at least
  std::uint32_t open_unused = 0;          ///< of the next two, so many from the front came back; the rest is with workers
  std::vector<std::uint64_t> open_first;  ///< of them, not done: first position of each lease or returned lease, oldest first
  std::vector<std::uint32_t> open_count;  ///< and how many samples

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.number(m.generation);
    v.number(m.epoch);
    v.number(m.samples_total);
    v.number(m.samples_done);
    v.number(m.samples_repeated);
    v.real(m.loss);
    v.flag(m.finished);
    v.number(m.evaluated);
    v.number(m.handed_out);
    v.number(m.open_unused, 0, limits::kOpenLeases);
    v.packed(m.open_first, limits::kOpenLeases);
    v.packed(m.open_count, limits::kOpenLeases);
  }
};

}  // namespace hourglass
