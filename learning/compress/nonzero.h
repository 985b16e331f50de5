// SPDX-License-Identifier: Apache-2.0
// Selector `nonzero`: every entry that is not 0, exactly. No options.
// As a downlink it publishes what changed and nothing else: the union of the entries that the workers of a round have sent, as parameter
// servers for sparse pushes do (Li et al., OSDI 2014). Nothing stays behind, so its residual is 0 under an exact value codec.
// Cost: an index and a value for each non-zero; nothing bounds their number. A ratio policy has no hold on it.
#pragma once

#include "learning/compress/selector.h"

namespace hourglass::compress {

/// Errors: bad_config for any option.
Result<std::unique_ptr<Selector>> make_nonzero(const SpecStage& stage, const Shape& shape);

}  // namespace hourglass::compress
