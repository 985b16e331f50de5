// SPDX-License-Identifier: Apache-2.0
// Value codec `u8`: 8 bits a value, linear about 0 within each chunk: round(127 x / max|x|), half to even. 8 + 32 / chunk bits.
// Deterministic: |error| <= max|x| / 254; 0 and the largest magnitude are exact. Option chunk (default 4096, 64 to 2^24, a multiple of 8).
//
// Blob: see buckets.h; levels is 127.
// Source: block-wise 8-bit quantization in its linear form, Dettmers 2015, 1511.04561, and 2021, 2110.02861.
#pragma once

#include "learning/compress/value_coder.h"

namespace hourglass::compress {

const ValueCoder& u8_coder();
Result<std::unique_ptr<ValueCoder>> make_u8(const SpecStage& stage);

}  // namespace hourglass::compress
