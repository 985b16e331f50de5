// SPDX-License-Identifier: Apache-2.0
// Memory `low_pass beta=B`, B in (0, 1], default 0.1: ScaleCom's filter on the residual, for batches so large that the learning rate is
// scaled up and old errors weigh too much.
//   p = m + delta;  q = decode(encode(C(p)));  m = m + B (delta - q) = (1 - B) m + B (p - q).
// So m' + B q == m + B delta: what is held follows the updates with weight B. B = 1 is error feedback, bit for bit; with B < 1 mass is not
// conserved. A flush sends m. Two floats an element.
// Source: Chen et al. 2020, ScaleCom (2104.11125).
#pragma once

#include "learning/compress/memory.h"

namespace hourglass::compress {

/// Errors: bad_config for an unknown option or a beta outside (0, 1].
Result<std::unique_ptr<Memory>> make_low_pass(const SpecStage& stage, std::size_t group_size);

}  // namespace hourglass::compress
