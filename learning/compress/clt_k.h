// SPDX-License-Identifier: Apache-2.0
// Selector `clt_k ratio=R`: cyclic local top-k. One worker's largest entries, k = max(1, ceil(R n)), are what everybody sends, and the
// workers take turns in choosing: the union of all is k, not up to k times the workers.
//   R in (0, 1], default 0.01.
// ScaleCom broadcasts the leader's indices before anybody sends. In a star that is one more round trip; here the published stream is the
// broadcast. With P workers, this one the p-th (take_seat()), at its step t:
//   t even, (t / 2) mod P == p   the leader sends its k largest
//   t even, otherwise            nothing is sent: everything waits in the residual
//   t odd                        everybody sends what it has at the last published indices; of more than k of them, at the k whose
//                                published magnitudes are largest (then by index): the same ones for everybody
// So where all are at one version, the union of a step is k: first the leader's entries, then everybody's at the leader's indices.
// A worker sends k entries in half of its steps and once in 2 P steps k more. One worker alone, and one that has seen nothing published
// yet, is topk. In asynchronous runs "the last published" differs between workers for a while, and the union grows by what they
// disagree; steps count a worker's own pushes, so after a late join two may lead at once, or nobody: then the last indices stay.
// The downlink must be sparse and should be `nonzero`. ScaleCom's low-pass filter of the residual is not a selector's business.
// Never a value that is 0, so there may be fewer than k. 8 bytes of state for each published entry.
// Source: Chen et al., ScaleCom, NeurIPS 2020, 2104.11125; the announcement through the published stream is ours.
#pragma once

#include "learning/compress/selector.h"

namespace hourglass::compress {

/// Errors: bad_config for a ratio outside (0, 1] or an unknown option.
Result<std::unique_ptr<Selector>> make_clt_k(const SpecStage& stage, const Shape& shape);

}  // namespace hourglass::compress
