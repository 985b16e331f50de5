// SPDX-License-Identifier: Apache-2.0
// Memory `feedback decay=D`, D in [0, 1], default 1: error feedback, the default of every spec.
//   p = delta + D e;  q = decode(encode(C(p)));  e = p - q.
// With D = 1 all that was sent plus e is the sum of all updates, element-wise; exactly for compressors that send values as they are. With
// D < 1 old errors fade (SparseLoCo and DeMo use 0.95 to 0.999), and mass is lost. A spec that loses nothing keeps no residual, but between
// a restore and the next update. One float an element; with D = 1 the sum is made by the compressor's own pass.
// Source: Seide et al. 2014; Karimireddy et al. 2019 (1901.09847).
//
// Memory `none`: nothing is remembered, what is not sent is lost; p = delta. A push that is not applied is lost, too.
#pragma once

#include "learning/compress/memory.h"

namespace hourglass::compress {

/// Errors: bad_config for an unknown option or a decay outside [0, 1].
Result<std::unique_ptr<Memory>> make_feedback(const SpecStage& stage, std::size_t group_size);
/// Takes no options.
Result<std::unique_ptr<Memory>> make_none(const SpecStage& stage, std::size_t group_size);

}  // namespace hourglass::compress
