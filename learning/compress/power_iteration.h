// SPDX-License-Identifier: Apache-2.0
// Block power iteration on a matrix M: left = M right, orthonormalised; right = M^T left. Then left right^T is the best approximation of M
// within the columns of `left`, and after some steps the best of its rank. Blocks of vectors are rank x length, one vector after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hourglass::compress {

/// A matrix in memory, row-major.
struct MatrixView {
  std::span<const float> values;
  std::size_t rows = 0;
  std::size_t columns = 0;
};

/// rank x length values in [-1, 1), from a hash of `seed`: linearly independent for all that matters.
std::vector<float> random_basis(std::size_t rank, std::size_t length, std::uint64_t seed);
/// Modified Gram-Schmidt, twice. A vector that depends on those before it becomes zero.
void orthonormalise(std::span<float> vectors, std::size_t rank);
/// Scales every vector to length 1 and draws those anew that are zero, so that no later step starts from nothing.
void refresh(std::span<float> vectors, std::size_t rank, std::uint64_t seed);

/// One step, from `right` (rank x columns), which it replaces; gives `left` (rank x rows), orthonormal or zero.
std::vector<float> power_step(const MatrixView& matrix, std::span<float> right, std::size_t rank);
/// The same for M = A^T B, of which M is never formed: A (samples x rows) and B (samples x columns).
std::vector<float> power_step(const MatrixView& a, const MatrixView& b, std::span<float> right, std::size_t rank);

}  // namespace hourglass::compress
