// SPDX-License-Identifier: Apache-2.0
// Our own loops and Eigen's matrix products, compiled for any processor and for x86-64-v3. Internal to learning/nn.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hourglass::nn {

inline constexpr std::uint8_t kNoWinner = 255;
inline constexpr std::size_t kPoolSizeMax = 15;  ///< its square is below kNoWinner

/// Values in planes of height x width x lanes: `lanes` channels side by side, 1 in the plain layout. Windows of size x size do not overlap;
/// what does not fill one is dropped.
struct PoolShape {
  std::size_t planes, height, width, lanes, size;
};

/// All matrices row-major. No argument may overlap a result unless it is said to work in place.
struct Kernels {
  void (*relu)(const float* source, float* target, std::size_t size);
  /// gradient[i] = value[i] > 0 ? gradient[i] : 0, in place.
  void (*mask)(const float* value, float* gradient, std::size_t size);
  void (*copy)(const float* source, float* target, std::size_t size);
  /// target[r][c] += bias[c], then max(., 0) where `relu`.
  void (*add_bias)(const float* bias, float* target, std::size_t rows, std::size_t columns, bool relu);
  /// sums[c] = sum over r of matrix[r][c], in the order of the rows whatever the alignment.
  void (*sum_rows)(const float* matrix, float* sums, std::size_t rows, std::size_t columns);
  /// target = the largest value of each window, winners = where in its window it stands, row by row; kNoWinner where `clear_negative` and
  /// it is not above 0.
  void (*pool_max)(const float* source, float* target, std::uint8_t* winners, const PoolShape& shape, bool clear_negative);
  /// Writes each gradient where the winner was, 0 elsewhere.
  void (*unpool)(const float* target_gradient, const std::uint8_t* winners, float* source_gradient, const PoolShape& shape);
  /// c (m x n) = a (m x k) b (k x n), then with the second operand transposed (n x k), then with the first one transposed (k x m).
  void (*multiply_nn)(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k);
  void (*multiply_nt)(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k);
  void (*multiply_tn)(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k);
};

/// The set for this processor (base/cpu.h).
const Kernels& kernels();

namespace kernels_base {
extern const Kernels kKernels;
}
namespace kernels_v3 {
extern const Kernels kKernels;
}

}  // namespace hourglass::nn
