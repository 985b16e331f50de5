// SPDX-License-Identifier: Apache-2.0
// Index codec `elias_fano`: with n = length, k = count and l = floor(log2(n / k)), the numbers index >> l in unary, then the l low bits of
// each index. Blob: ceil((k + ((n - 1) >> l)) / 8) bytes whose one number i stands at bit (index i >> l) + i; ceil(k l / 8) bytes of low
// bits; each part padded with zeros. No parameter travels. Cost: 2 + l bits an index at most, about half a bit more than Rice codes, for
// any set; any index can be found without those in front of it. Errors of decode: malformed. Source: Elias 1974; Fano 1971; Vigna 2013.
#pragma once

#include "learning/compress/index_coder.h"

namespace hourglass::compress {

const IndexCoder& elias_fano_coder();

}  // namespace hourglass::compress
