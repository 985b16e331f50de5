// SPDX-License-Identifier: Apache-2.0
// Index codec `bloom`: a Bloom filter of the indices. The reader takes every entry of the range that the filter has; the sender knows which
// these are, and sends the true values of the false positives too (policy P0: no index is wrong, some more values travel). Several filters
// of one size merge by OR. With n = length, k = count, K = k rounded up to 2^j or 3 * 2^j:
//   hashes h = the least with K 2^h >= 10 n, so that the share of false positives is at most 0.1 k / n: at most k / 10 of them
//   bits   m = ceil(K h / ln 2), at least n / 512 (a small block must not cost its reader much), rounded up to bytes
//   hash j of an index: (upper half of s_j) m >> 32, where s_0 is a 64-bit mix of the index and s_j+1 = s_j A + B mod 2^64
// Both sides compute h and m from n and k by integers alone, so nothing but the filter travels. Rounding k makes that possible: k is the
// number with the false positives, which does not change the filter while it stays within the same step; where it does not, widen() goes on
// with the next filter. Cost: 14-20 bits an entry at 1 %, false positives included: more than Rice codes. Reading takes time in proportion
// to n. Errors of decode: malformed. Source: Bloom 1970; DeepReduce (2102.03112), with the filter's size fitted to h.
#pragma once

#include "learning/compress/index_coder.h"

namespace hourglass::compress {

const IndexCoder& bloom_coder();

}  // namespace hourglass::compress
