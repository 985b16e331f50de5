// SPDX-License-Identifier: Apache-2.0
// Selector `topk ratio=R`, R in (0, 1], default 0.01: the k = max(1, ceil(R n)) entries of largest magnitude, exactly.
// Order: |x| descending, then index ascending; an entry that is exactly 0 is never chosen, so there may be fewer than k.
// Contraction: ||x - C(x)||^2 <= (1 - k/n) ||x||^2.
// Source: Aji & Heafield 2017 (1704.05021); Stich et al. 2018 (1809.07599).
//
// A threshold is guessed from the last call, else from a sample; one pass collects what reaches it; where that is at least k and not
// far more, the k-th magnitude is found among the collected. Otherwise by histograms of magnitude bits (11 + 10 + 10) over all values. The
// guess decides about time only: the outcome is the same.
#pragma once

#include "learning/compress/selection.h"

namespace hourglass::compress {

/// Errors: bad_config for a ratio outside (0, 1] or an unknown option.
Result<std::unique_ptr<Selector>> make_topk(const SpecStage& stage, const Shape& shape);

}  // namespace hourglass::compress
