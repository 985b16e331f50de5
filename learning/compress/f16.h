// SPDX-License-Identifier: Apache-2.0
// Value codec `f16`: IEEE 754 half precision, round to nearest even, saturating at +-65504. 16 bits a value: relative error <= 2^-11
// down to 2^-14, absolute error <= 2^-25 below, so what is at most 2^-25 becomes 0.
//
// Blob: count x u16.
#pragma once

#include "learning/compress/value_coder.h"

namespace hourglass::compress {

const ValueCoder& f16_coder();
Result<std::unique_ptr<ValueCoder>> make_f16(const SpecStage& stage);

}  // namespace hourglass::compress
