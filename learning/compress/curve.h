// SPDX-License-Identifier: Apache-2.0
// Value codec `curve`: the magnitudes, sorted, as polynomials of degree 5, and for each entry its rank. The largest h (32 to 63)
// magnitudes go as they are; behind them pieces of the ranks [h, 2h), [2h, 4h), ..., a least-squares fit in double each. A piece decodes to
// between its first and last magnitude. Fewer than 64 values go as they are. Order is kept, at a price: ceil(log2 count) bits an entry for
// the rank and 1 for the sign, 256 bits a piece: 15.3 bits at 10,000 entries. For values that a selector left: on everything zeros become
// what the end of the curve has.
//
// Blob: count < 64: count x f32. Else
//   h x f32 magnitude
//   per piece f32 first, f32 last, 6 x f32 coefficients of t in [-1, 1], lowest first, of (magnitude - last) / (first - last)
//   count codes: sign in bit 0, the rank above it, ceil(log2 count) bits; zero-padded
// Source: DeepReduce, Kostopoulou et al. 2021, 2102.03112; pieces and bounds are ours.
#pragma once

#include "learning/compress/value_coder.h"

namespace hourglass::compress {

const ValueCoder& curve_coder();
Result<std::unique_ptr<ValueCoder>> make_curve(const SpecStage& stage);

}  // namespace hourglass::compress
