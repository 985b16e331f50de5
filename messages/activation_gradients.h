// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "messages/boundary_tensor.h"
#include "messages/message_type.h"

namespace hourglass {

/// FC worker -> CONV worker: gradient of the mean loss over this batch's samples with respect to its activations. For an
/// evaluation the tensor has no rows.
struct ActivationGradients {
  static constexpr MessageType kType = MessageType::activation_gradients;
  std::uint64_t batch = 0;
  std::uint64_t fc_version = 0;
  double loss_sum = 0;
  std::uint32_t hits = 0;
  BoundaryTensor tensor;

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.number(m.batch);
    v.number(m.fc_version);
    v.real(m.loss_sum);
    v.number(m.hits, 0, limits::kBatchSamples);
    v.group(m.tensor);
  }
};

}  // namespace hourglass
