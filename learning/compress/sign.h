// SPDX-License-Identifier: Apache-2.0
// Value codec `sign`: one bit a value and a mean for each sign: [1, -2, 3, -4] decodes to [2, -3, 2, -3]. +0 counts as positive, -0 as
// negative: on everything (`dense | sign`) zeros become a mean. Needs error feedback.
//
// Blob, empty for no values: f32 mean magnitude of the negative | f32 of the others | count sign bits.
// Source: Seide et al. 2014, 1-bit SGD.
#pragma once

#include "learning/compress/value_coder.h"

namespace hourglass::compress {

const ValueCoder& sign_coder();
Result<std::unique_ptr<ValueCoder>> make_sign(const SpecStage& stage);

}  // namespace hourglass::compress
