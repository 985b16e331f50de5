// SPDX-License-Identifier: Apache-2.0
// Transform `fo_sgd`: one bit an element after a rotation that flattens. Source: FO-SGD, arXiv 2405.11095.
//   y = H D x / sqrt(n),  bit_i = [y_i + t_i >= 0],  t_i uniform in [-lambda, lambda);   x' = D H (lambda (2 bit - 1)) / sqrt(n)
// D: random signs from the key, H: the Walsh-Hadamard matrix, of which H H = n I. The range is cut into blocks of n = `block` elements (so
// that memory is bounded and a block stays in the cache); the last is padded with zeros to the next power of two, at least 8.
// E[x'] = x where no |y_i| exceeds lambda. The squared error is n lambda^2 - |x|^2: with lambda = max |y| about 2 ln(n) |x|^2, many times
// what was sent. So `form=unbiased` is for sums over many workers WITHOUT error feedback, which would grow without bound; with error
// feedback take `form=sign`: no dither, lambda = mean |y|, of which the squared error is (1 - 2 / pi) |x|^2 (as DRIVE, arXiv 2105.08339).
//
// Options: form=unbiased (default) or sign; block=4096, a power of two from 64 to 65536; clip=0 for form=unbiased: lambda = clip * rms(y),
//   0: lambda = max |y|, which never clips; to 16.
// Wire (`hadamard`): u64 key, u8 log2(block), then for each block an f32 lambda and its bits. 1 bit an element, 32 a block, 72 a range.
// Refused: other sizes; lambda < 0 or not finite, or so large that lambda n is not finite.
#pragma once

#include "learning/compress/transform.h"
#include "learning/compress/value_coder.h"

namespace hourglass::compress {

/// Errors: bad_config for options.
Result<std::unique_ptr<Transform>> make_fo_sgd(const SpecStage& stage, const Shape& shape);
const ValueDecoder& hadamard_decoder();

}  // namespace hourglass::compress
