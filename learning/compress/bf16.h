// SPDX-License-Identifier: Apache-2.0
// Value codec `bf16`: the upper 16 bits of f32, round to nearest even. 16 bits a value, relative error <= 2^-8. What would round to
// infinity becomes the largest finite bf16.
#pragma once

#include "learning/compress/value_coder.h"

namespace hourglass::compress {

const ValueCoder& bf16_coder();
Result<std::unique_ptr<ValueCoder>> make_bf16(const SpecStage& stage);

}  // namespace hourglass::compress
