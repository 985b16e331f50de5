// SPDX-License-Identifier: Apache-2.0
// Memory `dgc_momentum momentum=0.9 nesterov=0 masking=1 clip=0`: Deep Gradient Compression's momentum correction, momentum factor masking
// and local clipping. Per update G of the group:
//   G = G min(1, clip / ||G||)                       where clip > 0 (L2 norm of the whole group)
//   U = m U + G;        V = V + U                    nesterov=0
//   U = m (U + G);      V = V + U + G                nesterov=1
//   q = decode(encode(C(V)));  V = V - q;  U = 0 where q != 0 (masking=1)
// The momentum is here: the optimizer on the worker and the receiver must have none, or it acts twice. One update is one step of momentum,
// however many local steps it contains.
//
// sum q + V == sum U (nesterov: sum (U + G)), element-wise. momentum=0 clip=0 is error feedback, bit for bit. With masking=0 and everything
// sent at once it is plain momentum SGD; with masking=1 and everything sent at once, momentum disappears. Small ranges, which go out dense
// beside a sparse spec, are never masked: they have ordinary momentum.
// After a restore the taken-back part is in V; U stays as it is. A flush sends V and, with masking, ends the momentum.
// Options: momentum in [0, 0.9999], nesterov 0 or 1, masking 0 or 1, clip >= 0 (0: none; of a threshold T for the sum of P workers, each
// has T / sqrt(P)). Two floats an element.
// Source: Lin et al. 2018 (1712.01887).
#pragma once

#include "learning/compress/memory.h"

namespace hourglass::compress {

/// Errors: bad_config for an unknown option or one out of range.
Result<std::unique_ptr<Memory>> make_dgc_momentum(const SpecStage& stage, std::size_t group_size);

}  // namespace hourglass::compress
