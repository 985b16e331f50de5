// SPDX-License-Identifier: Apache-2.0
// Codec `factors`: the gradient of a fully connected layer as what it is, a sum of outer products over samples. Source: dAD, arXiv
// 2102.09631.
//   dW = D^T A,   D: deltas (samples x out),   A: activations (samples x in),   dW: out x in, as the layer's weights lie.
// Sent are D and A: 32 samples (in + out) bits instead of 32 in out, exactly. Blocks of several workers add up to the gradient over all
// their samples (put the share 1 / samples into the deltas, or the weight into accumulate()). factor_gradient() with rank > 0 is rank-dAD:
// block power iteration on D and A, of which dW is never formed, leaves `rank` factors; the error is that of the truncated singular value
// decomposition, within some percent. Worth it where rank < samples.
//
// Where it belongs: several FC workers of one group that must have equal weights. An FC worker has A and D of a layer in hand at the end of
// its backward pass (the step's source and its delta after the activation's derivative). Instead of pushing dW of each micro-batch, it
// pushes one `factors` block for the weights' range and a dense one for the bias (the column sums of D); the others, or their aggregator,
// add both with accumulate() as any other push. For 9,216 x 4,096 weights and 64 samples that is 1/44 of dW. Residuals are not needed: it
// is exact. After several local steps between pushes D and A no longer give the difference of weights: then take `low_rank`.
//
// Transform `factors`, for a range of which only the gradient is known: the same wire, by `steps` steps of power iteration on the matrix
// itself, from the same start each time: remembers nothing. Vectors, and matrices that would not become smaller, go as dense f32.
//
// Options: rank=4, from 1 to 64; steps=3, from 1 to 16.
// Wire: see outer_sum.h; at most 512 factors.
#pragma once

#include "learning/compress/power_iteration.h"
#include "learning/compress/transform.h"

namespace hourglass::compress {

struct FactorOptions {
  std::size_t rank = 0;   ///< 0: the factors as they are
  std::size_t steps = 8;  ///< of power iteration
};

/// The block of deltas^T activations (samples x out, samples x in), with offset 0. Errors: bad_data for values that are not finite, or
/// whose products are not; over_limit for more than 512 factors; bad_config where the two differ in samples or there are none.
Result<GradientBlock> factor_gradient(const MatrixView& activations, const MatrixView& deltas, const FactorOptions& options = {});

/// Errors: bad_config for options.
Result<std::unique_ptr<Transform>> make_factors(const SpecStage& stage, const Shape& shape);

/// Whether `rank` factors are smaller than the range itself.
bool worth_factoring(const Shape& shape, std::size_t rank);
void write_dense(std::span<const float> values, GradientBlock& block);

/// A matrix times a power of two where products of its values might leave the range of a float: copied only then.
class ScaledMatrix {
 public:
  ScaledMatrix(std::span<const float> values, const Shape& shape);
  [[nodiscard]] MatrixView view() const { return view_; }
  [[nodiscard]] double factor() const { return factor_; }

 private:
  std::vector<float> copy_;
  MatrixView view_;
  double factor_ = 1;
};

/// Factors of a scaled matrix; `right` over the scale goes out, smaller where the sum might not be finite.
void write_scaled(ValueCodec wire, std::span<const float> left, std::span<const float> right, std::size_t rank, double factor,
                  GradientBlock& block);

}  // namespace hourglass::compress
