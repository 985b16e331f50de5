// SPDX-License-Identifier: Apache-2.0
// Value codec `natural`: the sign and one of the two powers of two around the magnitude, 2^a <= |x| < 2^(a+1), the upper one with
// probability |x| / 2^a - 1: unbiased, variance <= x^2 / 8. Exact on powers of two and 0. Above 2^127 it is the lower one, below 2^-126
// 0 or 2^-126. A decoded magnitude is below twice the encoded one, so what stays is never larger than what there was (but for 2^-126).
// Option bits: 9 (default; sign and exponent field) or 8 (127 powers up to the largest; what is smaller becomes 0 or the least of them).
//
// Blob, empty for no values: u8 base, then
//   bits = 9  base = 0; count x u8 exponent field (0: the value is 0; 255 is refused); count sign bits
//   bits = 8  base = 1 to 128; count codes of sign (high bit) and place p: 0 is 0, else the exponent field is base - 1 + p
// Source: Horvath et al. 2019, 1905.10988.
#pragma once

#include "learning/compress/value_coder.h"

namespace hourglass::compress {

const ValueCoder& natural_coder();
Result<std::unique_ptr<ValueCoder>> make_natural(const SpecStage& stage);

}  // namespace hourglass::compress
