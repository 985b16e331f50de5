// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "messages/fields.h"
#include "messages/message_type.h"

namespace hourglass {

/// What came of one lease. An evaluation adds its loss and hits to the test result, a training lease to the training loss.
struct LeaseResult {
  std::uint64_t lease = 0;
  std::uint32_t samples = 0;  ///< 0: returned unused
  double loss_sum = 0;        ///< summed over samples
  std::uint32_t hits = 0;     ///< samples whose largest output was the label

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.number(m.lease);
    v.number(m.samples, 0, limits::kBatchSamples);
    v.real(m.loss_sum);
    v.number(m.hits, 0, limits::kBatchSamples);
  }
};

/// CONV worker -> data loader. Says the whole state each time, so a lost message costs a repeat and nothing else: which leases it
/// holds, how many it may hold, and what is done (repeated until a LeaseUpdate answers).
struct BatchRequest {
  static constexpr MessageType kType = MessageType::batch_request;
  std::uint64_t sequence = 0;          ///< rising per sender
  std::uint32_t capacity = 0;          ///< most leases it wants to work on at a time; 0 while leaving
  std::uint32_t settling = 0;          ///< of `holding`: computed, only their push or its verdict is missing; not counted in capacity
  std::vector<std::uint64_t> holding;  ///< leases received and not yet done
  std::vector<LeaseResult> done;

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.number(m.sequence);
    v.number(m.capacity, 0, limits::kLeases);
    v.number(m.settling, 0, limits::kHeldLeases);
    v.packed(m.holding, limits::kHeldLeases);
    v.items(m.done, limits::kResults);
  }
};

}  // namespace hourglass
