// SPDX-License-Identifier: Apache-2.0
// Selector `dense`: every entry, in order. No options.
#pragma once

#include "learning/compress/selector.h"

namespace hourglass::compress {

/// Errors: bad_config for any option.
Result<std::unique_ptr<Selector>> make_dense(const SpecStage& stage, const Shape& shape);

}  // namespace hourglass::compress
