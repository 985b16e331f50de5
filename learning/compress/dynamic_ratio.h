// SPDX-License-Identifier: Apache-2.0
// Ratio policy `dynamic width=3`: a layer's share follows the moving average of its importance, RS-DGC's neighbourhood statistic
//   s(r, c) = |mean| + deviation of the width x width neighbourhood of entry (r, c) in the layer's matrix, cut off at the edges;
// importance = sum s. The entries that the selector's ratio R gives to the group are shared out in proportion to it; see share_out().
// width=1 is the sum of magnitudes.
// Options: width odd in [1, 31]; every (default 10), average (default 10): calls from one look to the next, and that the average covers.
// Source: RS-DGC (2312.17530); the paper's own law for the ratio is not known to this project, this one is its completion.
#pragma once

#include "learning/compress/ratio_policy.h"

namespace hourglass::compress {

/// Errors: bad_config for an unknown option or one out of range.
Result<std::unique_ptr<RatioPolicy>> make_dynamic_ratio(const SpecStage& stage, double ratio, std::span<const Shape> shapes);

/// `values` has the shape's length; `width` is odd.
double neighbourhood_importance(std::span<const float> values, const Shape& shape, std::size_t width);

}  // namespace hourglass::compress
