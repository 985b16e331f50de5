// SPDX-License-Identifier: Apache-2.0
// Value codec `two_level`: sign and one of two magnitudes, 2 bits a value and two floats a block.
// The magnitudes are split by Lloyd's iteration: c0 = min, c1 = (min + max) / 2, boundary = (c0 + c1) / 2, each level becomes the mean of
// its side, at most 10 times (on a sample where there are many, and then once on all). The squared error is at most that of sign * mean;
// Q(Q(x)) == Q(x); equal magnitudes are exact. For values that a selector left: on everything (`dense | two_level`) zeros become the lower
// level. Source: Lloyd 1982; the 2-bit codebook with the least measured error after top-k.
#pragma once

#include "learning/compress/value_coder.h"

namespace hourglass::compress {

const ValueCoder& two_level_coder();
Result<std::unique_ptr<ValueCoder>> make_two_level(const SpecStage& stage);

struct Levels {
  float low = 0;
  float high = 0;
};
/// 0 <= low <= high, finite; both 0 for no values.
Levels fit_levels(std::span<const float> values);

}  // namespace hourglass::compress
