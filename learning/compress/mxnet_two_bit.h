// SPDX-License-Identifier: Apache-2.0
// Value codec `mxnet_two_bit`: +t for x >= t, -t for x <= -t, else 0. Option threshold t (default 0.5, 1e-30 to 1e30). 2 bits a value. It
// needs error feedback, which keeps the rest, and a t that suits the gradients: what stays below t everywhere sends zeros.
//
// Blob, empty for no values: f32 t | u32 words of 16 codes from the low bit: 3 is +t, 2 is -t, 0 is 0, 1 is refused.
// Source: the 2-bit compression of Apache MXNet, after Strom 2015.
#pragma once

#include "learning/compress/value_coder.h"

namespace hourglass::compress {

const ValueCoder& mxnet_two_bit_coder();
Result<std::unique_ptr<ValueCoder>> make_mxnet_two_bit(const SpecStage& stage);

}  // namespace hourglass::compress
