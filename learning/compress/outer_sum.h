// SPDX-License-Identifier: Apache-2.0
// The wire of `low_rank` and `factors`: a matrix as a sum of outer products, value(i, j) = sum over k < rank of left_k(i) right_k(j).
// Wire: u32 rank, u32 columns, f32 left (rank x rows), f32 right (rank x columns). 32 rank (rows + columns) bits and 64.
// Reading costs 2 rank operations an element; rank is limited. The products are added in the order of k, so all hosts agree on every bit.
// Refused: a rank of 0 or above the codec's limit, columns that do not divide the range, other sizes, values that are not finite, and those
// of which sum over k of max|left_k| max|right_k| exceeds the largest float.
#pragma once

#include <span>

#include "learning/compress/value_coder.h"

namespace hourglass::compress {

inline constexpr std::size_t kLowRankMax = 64;
inline constexpr std::size_t kFactorsMax = 512;  ///< samples of one push

/// A bound on what the sum can come to; not finite where a value is not.
double outer_bound(std::span<const float> left, std::span<const float> right, std::size_t rank);
/// Sets value_codec and values. left: rank x rows, right: rank x columns, with a finite outer_bound() of at most the largest float.
void write_outer(ValueCodec wire, std::span<const float> left, std::span<const float> right, std::size_t rank, GradientBlock& block);

const ValueDecoder& low_rank_decoder();
const ValueDecoder& factors_decoder();

}  // namespace hourglass::compress
