// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "messages/batch.h"
#include "messages/boundary_tensor.h"

namespace hourglass {

/// CONV worker -> FC worker: the conv part's output for one batch. Resent unchanged until its gradient arrives; the FC
/// worker recognises (sender, batch) and answers a repeat with the same gradient, until the sender says that it has it.
struct Activations {
  static constexpr MessageType kType = MessageType::activations;
  std::uint64_t batch = 0;  ///< counts the sender's batches
  Mode mode = Mode::train;
  std::uint64_t conv_version = 0;        ///< parameters it was forwarded with
  double progress = 0;                   ///< as in Batch
  std::uint64_t roster_revision = 0;     ///< newest that the sender knows: a synchronous FC worker counts heads on none that is older
  std::vector<std::uint64_t> under_way;  ///< batches whose gradients the sender did not have when it made this, this one among them
  BoundaryTensor tensor;
  std::vector<std::uint16_t> labels;

  template <class Self, class V>
  static void fields(Self& m, V& v) {
    v.number(m.batch);
    v.choice(m.mode, Mode::evaluate);
    v.number(m.conv_version);
    v.real(m.progress);
    v.number(m.roster_revision);
    v.packed(m.under_way, limits::kBatchesUnderWay);
    v.group(m.tensor);
    v.packed(m.labels, limits::kBatchSamples);
  }
};

}  // namespace hourglass
