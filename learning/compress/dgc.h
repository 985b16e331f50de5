// SPDX-License-Identifier: Apache-2.0
// Selector `dgc ratio=R sample=P reuse=N`: Deep Gradient Compression's sampled threshold. Of n entries k = max(1, ceil(R n)) are wanted.
//   1. max(P n, 2 / R) entries are sampled at an odd stride, from a start that follows from the step; the threshold is the
//      magnitude that the share R of them reaches.
//   2. One pass collects what reaches it. Fewer than 0.8 k: the threshold times 0.8, again, at most 10 times. More than k: the k largest of
//      the survivors, exactly.
// So there are at most k entries; where there are k they are the k largest; fewer than 0.8 k only after ten attempts or for want of
// non-zeros. Ranges of up to 4,096 entries and ratios from 1/8 on are searched exactly.
//   ratio   (0, 1], default 0.01
//   sample  [1e-4, 1], default 0.01
//   reuse   [1, 1000], default 1: calls that one threshold serves; a reused one is just below the last k-th magnitude, collects in the
//           pass that adds the residual, and is given up when fewer than 0.8 k reach it or far too many
// Source: Lin et al. 2018, arXiv 1712.01887 (the survivors are cut by magnitude here, not by index); reuse: Fang et al. 2018, 1808.04357.
#pragma once

#include "learning/compress/selector.h"

namespace hourglass::compress {

/// Errors: bad_config for options outside their ranges or unknown.
Result<std::unique_ptr<Selector>> make_dgc(const SpecStage& stage, const Shape& shape);

}  // namespace hourglass::compress
