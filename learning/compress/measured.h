// SPDX-License-Identifier: Apache-2.0
// Transform `measured`: compressed sensing, in the form of FedQCS (arXiv 2111.15071). The range is cut into blocks of N elements; of each
//   x_S  = its S elements of largest magnitude (error feedback keeps the others),
//   y    = A x_S / scale,  A: M x N of +-1 / sqrt(M) from a hash,  scale = |x_S| / sqrt(M), so that y is close to standard normal,
//   code = y by the Lloyd-Max quantizer of the normal distribution with `bits` bits.
// A is M rows of the Walsh-Hadamard matrix with random signs, so that it is applied in N log N additions and never stored. The reader looks
// for an x of at most S elements with A x = y by normalised iterative hard thresholding (Blumensath & Davies 2010), 12 steps, in
// place of the source's expectation-maximisation over all senders. It finds S elements while M >= about 2 S ln(N / S), up to quantization
// noise.
//
// Honest cost: bits * M / N bits an element (0.75 by default, 32 / N for the scale) where `topk | two_level | rice` of the same 3 % takes
// 0.26 and is exact in its positions; reading takes some hundred operations an element, about a hundred times more than other codecs.
//
// Options: block=512: N, a power of two from 256 to 1024; measurements=0.25: M / N, from 0.01 to 1; keep=0.03: S / N, from 0.001 to 1, at
// most M / N; bits=3, from 1 to 4. The last block is as long as the next power of two, at least 16, with M and S in proportion.
// Wire: u64 key, u8 log2(N), u16 M, u16 S, u8 bits, then for each block f32 scale and M codes of `bits` bits (sign last), padded to a byte.
// Refused: sizes that do not fit, S > M > N, a scale < 0 or not finite or of which values might not be, bits behind the last code.
#pragma once

#include "learning/compress/transform.h"
#include "learning/compress/value_coder.h"

namespace hourglass::compress {

/// Errors: bad_config for options.
Result<std::unique_ptr<Transform>> make_measured(const SpecStage& stage, const Shape& shape);
const ValueDecoder& measured_decoder();

}  // namespace hourglass::compress
