// SPDX-License-Identifier: Apache-2.0
// Index codec `rice`: Golomb-Rice codes of the gaps between indices, gap = index - previous - 1 (the first previous is -1), written as gap
// >> b ones, a zero, b low bits. The parameter b is the cheapest for these very gaps, found by descent from floor(log2(mean gap)). For
// uniformly random positions the cost is within 0.4 % (density 1 %) and 0.8 % (0.1 %) of log2 C(n, k). Source: Golomb 1966; Rice 1979; for
// sparse gradients Sattler et al. 2019 (1903.02891).
#pragma once

#include "learning/compress/index_coder.h"

namespace hourglass::compress {

const IndexCoder& rice_coder();

}  // namespace hourglass::compress
