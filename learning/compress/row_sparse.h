// SPDX-License-Identifier: Apache-2.0
// Selector `row_sparse ratio=R block=B`: whole rows of a matrix, the max(1, ceil(R rows)) of largest L2 norm; rows of zeros never.
//   ratio  in (0, 1], default 1: every row that has a non-zero, so that the gradient of an embedding goes out exactly
//   block  0 (default): a row is a row of the matrix, and 256 entries of a vector; else a row is so many entries of the range, whatever
//          its layout. The last one may be shorter.
// Order: norm descending, then row ascending. Zeros within a chosen row are not sent, as by no selector.
// Cost: runs of neighbouring indices, which `bitmap` codes in a bit an entry of the range, whatever their number.
// Source: Fei et al. 2021 (OmniReduce, SIGCOMM; blocks of 256 values, only those with a non-zero travel); rows by norm as for embeddings.
#pragma once

#include "learning/compress/selector.h"

namespace hourglass::compress {

/// Errors: bad_config for options.
Result<std::unique_ptr<Selector>> make_row_sparse(const SpecStage& stage, const Shape& shape);

}  // namespace hourglass::compress
