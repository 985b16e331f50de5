// SPDX-License-Identifier: Apache-2.0
// Index codec `bitmap`: one bit for each entry of the range. Rice coding with parameter 0 is never much larger; this one decodes faster
// where more than about a quarter of the entries is sent.
#pragma once

#include "learning/compress/index_coder.h"

namespace hourglass::compress {

const IndexCoder& bitmap_coder();

}  // namespace hourglass::compress
