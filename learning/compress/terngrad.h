// SPDX-License-Identifier: Apache-2.0
// Value codec `terngrad`: s sign(x) b, P(b = 1) = |x| / s, s = max|x|: unbiased, ternary. The largest magnitude is always sent, so a
// constant vector is exact. 1.6 bits a value (log2(3) = 1.585). Option clip c (default 0: off; to 1000): magnitudes above c times the root
// mean square are clipped first, which is biased. The paper has 2.5 standard deviations; that of a constant vector is 0.
//
// Blob, empty for no values: f32 s | ceil(count / 5) bytes, each the sum of digit_j 3^j, digits 0 (0), 1 (+s), 2 (-s).
// Source: Wen et al. 2017, 1705.07878.
#pragma once

#include "learning/compress/value_coder.h"

namespace hourglass::compress {

const ValueCoder& terngrad_coder();
Result<std::unique_ptr<ValueCoder>> make_terngrad(const SpecStage& stage);

}  // namespace hourglass::compress
