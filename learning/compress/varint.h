// SPDX-License-Identifier: Apache-2.0
// Index codec `varint`: gap = index - previous - 1 (the first previous is -1) in groups of 7 bits, the lowest first, one byte each, whose
// highest bit says that another follows; the last byte of a gap of more than one is not 0. Cost: 8 bits an index while gaps are below 128,
// 16 below 16,384: at 1 % about 10.2, at 0.1 % 15. Smaller than Rice codes only where most gaps are tiny and some are huge. Errors of
// decode: malformed. Source: LEB128; for sparse gradients the index coding that DeepReduce (2102.03112) compares with.
#pragma once

#include "learning/compress/index_coder.h"

namespace hourglass::compress {

const IndexCoder& varint_coder();

}  // namespace hourglass::compress
