// SPDX-License-Identifier: Apache-2.0
// Coding of activations and their gradients at the cut. Never under error feedback: the error of one sample cannot be repaid on another.
//
// A spec is which entries are kept, then how a value is written:
//   f32 | bf16 | u8 | u6 | u4      every entry; 32, 16, 8, 6, 4 bits each
//   zeros [| CODEC]                the entries that are not 0 (default f32: lossless but for the sign of a zero): what a ReLU leaves
//   topk [ratio=0.1 or k=N] [| CODEC]     the largest magnitudes of each row, ties by position (default bf16). Biased: what is small
//                                         never arrives, and no later step repays it
//   sampled [ratio=0.1 or k=N] [| CODEC]  as many per row on average, unbiased: entry i is kept with p_i = min(1, |x_i| / t) and sent as
//                                         x_i / p_i, t such that sum p_i = k (Wangni et al. 2017, arXiv 1710.09854, greedy t); the draw is
//                                         systematic, one uniform number a row. Least variance for that k, yet more than topk has error
// u8, u6, u4 round stochastically within the row's range of what is kept, so they are unbiased too: a zero that is left out stays exact,
// and the codes are all for the rest. Constant rows are exact. bf16 rounds to nearest.
// Behind a ReLU the gradient of an activation that is 0 has no effect. Where the activations' codec tells zeros apart, the FC worker clears
// such gradients before it codes them: "zeros" then leaves them out without loss, topk and sampled spend nothing on them.
// Bits per row of n columns with m kept: m values + 64 for a scale (u8, u6, u4) + places, the smaller of a bitmap (n) and Rice-coded gaps
// (near the entropy of m out of n). The lay-out is told in messages/boundary_tensor.h.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "messages/boundary_tensor.h"

namespace hourglass::compress {

enum class BoundaryKeep : std::uint8_t { all, zeros, topk, sampled };

struct BoundarySpec {
  BoundaryCodec codec = BoundaryCodec::f32;
  BoundaryKeep keep = BoundaryKeep::all;
  double ratio = 0;   ///< of a row's columns, topk and sampled
  std::size_t k = 0;  ///< per row; 0: the ratio says

  /// What was 0 decodes to 0, and nothing else does but what is too small for bf16.
  [[nodiscard]] bool tells_zeros() const {
    return keep == BoundaryKeep::zeros || (keep == BoundaryKeep::all && codec <= BoundaryCodec::bf16);
  }
  /// Entries per row of topk and sampled: at least 1, at most all.
  [[nodiscard]] std::size_t kept_of(std::size_t columns) const;
};

/// A name that a boundary spec may use, for lists.
struct BoundaryRow {
  std::string_view name, help, bits, source, example;
};
const std::vector<BoundaryRow>& boundary_rows();

/// Errors: bad_config naming the stage, with what is allowed.
Result<BoundarySpec> boundary_spec(std::string_view text);
/// Of gradients, where "same" stands for the activations' spec.
inline Result<BoundarySpec> boundary_gradients_spec(std::string_view text, std::string_view activations) {
  return boundary_spec(text == "same" ? activations : text);
}

/// `values`: rows x columns, finite, at most limits::kParameters. Randomness is one number of `random` a row.
BoundaryTensor encode_boundary(std::span<const float> values, std::size_t rows, std::size_t columns, const BoundarySpec& spec,
                               Random& random);
/// `out`: rows x columns floats. Errors: malformed where blobs do not fit each other or the receiver, bad_data for non-finite values. Then
/// `out` is unchanged. Memory taken is within a few times `out`.
Status decode_boundary(const BoundaryTensor& tensor, std::span<float> out);

}  // namespace hourglass::compress
