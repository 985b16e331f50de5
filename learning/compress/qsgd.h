// SPDX-License-Identifier: Apache-2.0
// Value codec `qsgd`: stochastic levels. Per bucket with norm N: level = floor(s |x| / N + u), value = N sign(x) level / s; unbiased.
// Options: levels s (1 to 127, default 7), bucket (64 to 2^24, a multiple of 8, default 512), norm = max (default, as in the paper's
// experiments) or l2 (variance <= min(d / s^2, sqrt(d) / s) N^2; a decoded magnitude may exceed the largest one, up to N; under error
// feedback sums of 1e30 and more are then refused). 1 + bit_width(s) + 32 / bucket bits: 4 for s = 7, 8 for s = 127. Codes of fixed length:
// the paper's Elias codes pay only where most levels are 0.
//
// Blob: see buckets.h.
// Source: Alistarh et al. 2017, 1610.02132.
#pragma once

#include "learning/compress/value_coder.h"

namespace hourglass::compress {

const ValueCoder& qsgd_coder();
Result<std::unique_ptr<ValueCoder>> make_qsgd(const SpecStage& stage);

}  // namespace hourglass::compress
