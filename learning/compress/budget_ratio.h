// SPDX-License-Identifier: Apache-2.0
// Ratio policy `budget by=energy|norm` (default energy): the entries that the selector's ratio R gives to the whole group, R * sum n, are
// shared out among the layers in proportion to their energy ||x||^2, or to their norm ||x|| (closer to equal); see share_out(). A layer
// sends at least one entry and at most all of its own; the total is within the number of layers of R * sum n. Options: every (default 10):
// calls from one look to the next; average (default 10): calls that the exponential average covers. Source: rate goes where the energy is,
// as in reverse water-filling (Cover & Thomas, 10.3.3); layer-wise budgets as in L-GreCo (2210.17357).
#pragma once

#include "learning/compress/ratio_policy.h"

namespace hourglass::compress {

/// Errors: bad_config for an unknown option or one out of range.
Result<std::unique_ptr<RatioPolicy>> make_budget_ratio(const SpecStage& stage, double ratio, std::span<const Shape> shapes);

}  // namespace hourglass::compress
