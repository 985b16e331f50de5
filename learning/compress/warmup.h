// SPDX-License-Identifier: Apache-2.0
// Ratio policy `warmup from=0.25 steps=1000`: a run starts with a large ratio and comes down to the selector's R exponentially,
//   ratio(t) = from (R / from)^(t / steps) for t < steps, then R,
// t being the step that is compressed (a worker's push, the downlink's version). With R = 0.001 and four stages: 25, 6.3, 1.6, 0.4, 0.1 %.
// Options: from in [R, 1], steps in [1, 1e9].
// Source: Lin et al. 2018 (1712.01887), 3.3.
#pragma once

#include "learning/compress/ratio_policy.h"

namespace hourglass::compress {

/// Errors: bad_config for an unknown option, one out of range, or a `from` below the selector's ratio.
Result<std::unique_ptr<RatioPolicy>> make_warmup(const SpecStage& stage, double ratio, std::span<const Shape> shapes);

}  // namespace hourglass::compress
