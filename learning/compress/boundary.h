// SPDX-License-Identifier: Apache-2.0
// Coding of activations and their gradients at the cut. Unbiased, never under error feedback: the error of one sample cannot be repaid on
// another.
#pragma once

#include <span>
#include <string_view>

#include "base/random.h"
#include "base/result.h"
#include "messages/boundary_tensor.h"

namespace hourglass::compress {

/// Errors: bad_config with the list (f32, bf16, u8).
Result<BoundaryCodec> boundary_codec(std::string_view name);
/// `values`: rows x columns, finite. u8 rounds stochastically (unbiased) with `random`; a constant row is exact.
BoundaryTensor encode_boundary(std::span<const float> values, std::size_t rows, std::size_t columns, BoundaryCodec codec, Random& random);
/// `out`: rows x columns floats. Errors: malformed where blob sizes do not fit; bad_data for non-finite values.
Status decode_boundary(const BoundaryTensor& tensor, std::span<float> out);

}  // namespace hourglass::compress
