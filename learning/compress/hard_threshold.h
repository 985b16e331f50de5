// SPDX-License-Identifier: Apache-2.0
// Selector `hard_threshold threshold=T ratio=R cap=C`: every entry with |x| >= T, in one pass over memory.
//   threshold  (0, 3e38], default 0.001: in the units of what is compressed (updates, learning rate included)
//   ratio      (0, 1], default 0.01; a ratio policy sets it
//   cap        [1, 1e9], default 10: at most ceil(cap * ratio * n) entries, and at least 1; where more reach T the largest are sent
// So every residual is < T in magnitude, unless the cap was reached, and ||x - C(x)||^2 <= n T^2. Nothing at all may reach T: then the
// block is empty. Optimal for the error of a whole run at a given number of entries, where topk is for one step. Source: Sahu et al. 2021,
// "Rethinking gradient sparsification as total error minimization", arXiv 2108.00951.
#pragma once

#include "learning/compress/selector.h"

namespace hourglass::compress {

/// Errors: bad_config for options outside their ranges or unknown.
Result<std::unique_ptr<Selector>> make_hard_threshold(const SpecStage& stage, const Shape& shape);

}  // namespace hourglass::compress
