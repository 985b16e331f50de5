// SPDX-License-Identifier: Apache-2.0
// Selector `sbc ratio=R`: Sparse Binary Compression's one side. k = max(1, ceil(R n)); of the k largest positive entries and the k largest
// negative ones (fewer where there are fewer), the side with the larger mean magnitude is sent, exactly; the positive one where they are
// equal. Order within a side: |x| descending, then index ascending.
//   ratio  (0, 1], default 0.01
// With value codec `mean` every entry decodes to the mean of its side and a value costs no bit: `sbc ratio=0.01 | mean | rice` is the
// paper's compressor, 8.1 bits for each entry sent at 1 %. One pass over memory where the last threshold still fits. Source: Sattler et al.
// 2018, arXiv 1805.08768.
#pragma once

#include "learning/compress/selector.h"

namespace hourglass::compress {

/// Errors: bad_config for options outside their ranges or unknown.
Result<std::unique_ptr<Selector>> make_sbc(const SpecStage& stage, const Shape& shape);

}  // namespace hourglass::compress
