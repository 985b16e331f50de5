// SPDX-License-Identifier: Apache-2.0
// Selector `sidco ratio=R dist=D stages=M reuse=N`: a threshold from a distribution fitted to the magnitudes, in stages (formulas in
// tail_fit.h); no sorting. Of n entries about k = max(1, ceil(R n)) are sent, never more than 2k: then the 2k largest.
//   ratio   (0, 1], default 0.01
//   dist    exponential (default), gamma, gpareto
//   stages  [1, 20], default 2: to begin with; at most ceil(log2(1 / R)). Every 5 fits the mean of found / k decides: above 1.2 one stage
//   less,
//           below 0.8 one more; where the last change made it worse, or there is no stage less, the other way round (tails heavier
//           than the fit need more stages, not less)
//   reuse   [1, 1000], default 1: calls that one threshold serves; a reused one collects in the pass that adds the residual, and is given
//   up
//           when fewer than k/2 or more than 2k reach it
// Where a fit finds fewer than k/2 (and there are more), the k largest are sent, exactly. Ranges of up to 4,096 entries and ratios from 1/8
// on are searched exactly. Exact zeros are left out of the fits.
// Source: Abdelmoniem et al. 2021, arXiv 2101.10761; reuse: Fang et al. 2018, arXiv 1808.04357.
#pragma once

#include "learning/compress/selector.h"

namespace hourglass::compress {

/// Errors: bad_config for options outside their ranges or unknown.
Result<std::unique_ptr<Selector>> make_sidco(const SpecStage& stage, const Shape& shape);

}  // namespace hourglass::compress
