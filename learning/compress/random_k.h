// SPDX-License-Identifier: Apache-2.0
// Selector `random_k ratio=R seed=S rescale=0|1`: k = max(1, ceil(R n)) different places, uniformly among all sets of k; those of them that
// are exactly 0 are not sent. The places follow from (seed, step, n) alone: all workers that are at one step choose the same.
//   ratio    (0, 1], default 0.01
//   seed     [0, 2^53], default 0
//   rescale  0 (default): the values as they are, for error feedback: E ||x - C(x)||^2 = (1 - k/n) ||x||^2.
//            1: times n/k, so that E C(x) = x; no contraction, so not for error feedback. What would leave f32 becomes its largest number.
// Source: Stich et al. 2018, arXiv 1809.07599; unbiased: Konecny et al. 2016, arXiv 1610.05492.
#pragma once

#include "learning/compress/selector.h"

namespace hourglass::compress {

/// Errors: bad_config for options outside their ranges or unknown.
Result<std::unique_ptr<Selector>> make_random_k(const SpecStage& stage, const Shape& shape);

}  // namespace hourglass::compress
