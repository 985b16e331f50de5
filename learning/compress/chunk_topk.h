// SPDX-License-Identifier: Apache-2.0
// Selector `chunk_topk chunk=C k=K` or `chunk_topk chunk=C ratio=R`: the range is cut into chunks of C entries; of each the K largest
// magnitudes are sent, exactly (fewer only where a chunk has fewer that are not 0). The last chunk, of m < C entries, sends
// max(1, ceil(K m / C)). Order: |x| descending, then index ascending.
//   chunk  [16, 2^20], default 4096: a chunk stays in the first-level cache while it is searched
//   k      [1, C], default C / 64; or
//   ratio  (0, 1]: K = max(1, ceil(R C)); a ratio policy sets it
// No large layer of small values is starved by a neighbour of large ones, and indices fit 12 bits.
// Cost: one pass over memory. Contraction: ||x - C(x)||^2 <= (1 - K/C) ||x||^2.
// Source: SparseLoCo, Sarfi et al. 2025, arXiv 2508.15706; DeMo, Peng et al. 2024, arXiv 2411.19870.
#pragma once

#include "learning/compress/selector.h"

namespace hourglass::compress {

/// Errors: bad_config for options outside their ranges or unknown, or k and ratio together.
Result<std::unique_ptr<Selector>> make_chunk_topk(const SpecStage& stage, const Shape& shape);

}  // namespace hourglass::compress
