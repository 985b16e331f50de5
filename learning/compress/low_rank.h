// SPDX-License-Identifier: Apache-2.0
// Transform `low_rank`: PowerSGD. A matrix M is sent as P Q^T of `rank` columns, by one step of power iteration that starts from the last
// step's Q: P = M Q, orthonormalised; Q = M^T P. Source: PowerSGD, arXiv 1905.13727, which averages P and Q over all workers within a step;
// here every block stands alone, P and Q of one worker, and the aggregator adds the products. Needs error feedback (unbiased without
// it lost 18 points in the paper); exact for matrices of rank <= `rank` once warm; |M - P Q^T| <= |M| always.
// Vectors, and matrices that P and Q would not make smaller, go as dense f32.
//
// Options: rank=4, from 1 to 64.
// Wire: see outer_sum.h. 32 rank (1 / rows + 1 / columns) bits an element.
// Cost: M is read twice, 4 rank operations an element, to write; 2 rank to read. Remembers Q: rank x columns floats.
#pragma once

#include "learning/compress/transform.h"

namespace hourglass::compress {

/// Errors: bad_config for options.
Result<std::unique_ptr<Transform>> make_low_rank(const SpecStage& stage, const Shape& shape);

}  // namespace hourglass::compress
