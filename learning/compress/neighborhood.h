// SPDX-License-Identifier: Apache-2.0
// Selector `neighborhood ratio=R size=P`: the k = max(1, ceil(R n)) entries of largest neighbourhood score instead of magnitude,
//   score(i) = |mu(i)| + sigma(i),  mu and sigma: mean and standard deviation of the P x P entries around i in the matrix layout,
// cut off at its edges (a vector is one row). Order: score descending, then index ascending; an entry that is exactly 0 is never chosen.
//   ratio  in (0, 1], default 0.01
//   size   odd, 1 ... 15, default 3; 1 is topk: mu = g, sigma = 0
// Sums of P x P values in double precision, first down the columns, then along the row: 2 P additions an entry.
// Source: RS-DGC, 2312.17530, "neighborhood statistical indicator"; the paper gives mean and deviation of a neighbourhood, how the two
// make one score is our choice. Its ratio per layer is a ratio policy's business.
#pragma once

#include "learning/compress/selector.h"

namespace hourglass::compress {

/// Errors: bad_config for options.
Result<std::unique_ptr<Selector>> make_neighborhood(const SpecStage& stage, const Shape& shape);

/// The scores of a whole range; 0 exactly where the value is. `size` is odd.
void score_neighborhoods(std::span<const float> values, const Shape& shape, std::size_t size, std::span<float> scores);

}  // namespace hourglass::compress
