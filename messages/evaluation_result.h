// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "messages/fields.h"
#include "messages/message_type.h"

namespace hourglass {

/// Data loader -> aggregator: the test set has been gone through once. Repeated until answered by nothing: the aggregator ignores
/// a number that it has.
struct EvaluationResult {
  static constexpr MessageType kType = MessageType::evaluation_result;
  std::uint32_t generation = 0;
  std::uint32_t number = 0;        ///< counts evaluations of this data loader
  bool final_parameters = false;   ///< the one of Phase::evaluating
  std::uint64_t samples_done = 0;  ///< training samples at its start
  std::uint64_t count = 0;         ///< test samples seen
  double loss_sum = 0;
  std::uint64_t hits = 0;

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.number(m.generation);
    v.number(m.number);
    v.flag(m.final_parameters);
    v.number(m.samples_done);
    v.number(m.count);
    v.real(m.loss_sum);
    v.number(m.hits);
  }
};

}  // namespace hourglass
