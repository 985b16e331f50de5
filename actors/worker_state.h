// SPDX-License-Identifier: Apache-2.0
// What a worker holds beside published parameters, as it travels in StateChunks and lies in checkpoints.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/random.h"
#include "base/result.h"

namespace hourglass {

struct WorkerState {
  std::uint64_t version = 0;
  std::vector<float> parameters;  ///< of the only FC worker, else empty
  Bytes optimizer;                ///< as Optimizer::save() wrote it
  std::vector<float> residual;    ///< what error feedback holds back; empty: nothing
  Random::State random;
};

Bytes encode_worker_state(const WorkerState& state);
/// Errors: malformed; also where a number is not finite.
Result<WorkerState> decode_worker_state(std::span<const std::byte> bytes);

}  // namespace hourglass
