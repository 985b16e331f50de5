// SPDX-License-Identifier: Apache-2.0
// Value codec `f32`: the values as they are. 32 bits a value, lossless.
#pragma once

#include "learning/compress/value_coder.h"

namespace hourglass::compress {

const ValueCoder& f32_coder();
Result<std::unique_ptr<ValueCoder>> make_f32(const SpecStage& stage);

}  // namespace hourglass::compress
