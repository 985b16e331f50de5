// SPDX-License-Identifier: Apache-2.0
// Index codec `chunk12`: the range in chunks of 4,096 entries. Blob: for each chunk the number of its indices (u16), then for each index
// its 12 bits within its chunk, two in three bytes, from the low bit, zero-padded. Cost: 12 bits an index and 16 a chunk (0.4 bits an index
// at 1 %), whatever the set; meant for selectors that take some of each chunk, where the positions of all indices are known at once.
// Errors of decode: malformed. Source: the index format of SparseLoCo (2508.15706), with counts, so that chunks may differ.
#pragma once

#include "learning/compress/index_coder.h"

namespace hourglass::compress {

const IndexCoder& chunk12_coder();

}  // namespace hourglass::compress
