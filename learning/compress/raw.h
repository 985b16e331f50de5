// SPDX-License-Identifier: Apache-2.0
// Index codec `raw`: 32 bits an index. For comparison, and the smallest for a handful of far-apart entries.
#pragma once

#include "learning/compress/index_coder.h"

namespace hourglass::compress {

const IndexCoder& raw_coder();

}  // namespace hourglass::compress
