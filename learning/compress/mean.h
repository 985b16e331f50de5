// SPDX-License-Identifier: Apache-2.0
// Value codec `mean`: sign(x) * mean|x|, 1 bit a value; 0 bits where all values have one sign. For values that a selector left: on
// everything (`dense | mean`) zeros become the mean.
//
// Blob, empty for no values: u8 sides (0 both, 1 none negative, 2 all negative) | f32 mean | count sign bits where there are both.
// Source: ternary values of STC, Sattler et al. 2019, 1903.02891; with one sign SBC, Sattler et al. 2018, 1805.08768.
#pragma once

#include "learning/compress/value_coder.h"

namespace hourglass::compress {

const ValueCoder& mean_coder();
Result<std::unique_ptr<ValueCoder>> make_mean(const SpecStage& stage);

}  // namespace hourglass::compress
