// SPDX-License-Identifier: Apache-2.0
// The measurements of `measured` and their inversion. Same bits on every host: sums in a fixed order, + - * / alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hourglass::compress {

/// Indices (ascending) of the `count` largest magnitudes, the earlier of equals; never of zeros, so there may be fewer.
std::vector<std::uint32_t> largest_of(std::span<const float> values, std::size_t count);

/// A: `measurements` x `length` values of +-1 / sqrt(measurements). `length`: a power of two, at least 8.
class Sensing {
 public:
  Sensing(std::uint64_t key, std::size_t length, std::size_t measurements);
  /// y = A x.
  void measure(std::span<const float> x, std::span<float> y);
  /// An x with at most `sparsity` elements and A x about y: hard thresholding, a fixed number of steps. No |x_i| exceeds
  /// sqrt(measurements), as is true of every x of that norm; y may be anything finite that is not huge.
  void recover(std::span<const float> y, std::size_t sparsity, std::span<float> x);

 private:
  /// g = A^T r.
  void transpose(std::span<const float> r, std::span<float> g);
  /// `reached`: a magnitude that at least `sparsity` elements reach, or 0; spares the look at the others.
  void keep_largest(std::size_t sparsity, std::uint32_t reached, std::span<float> x);

  std::uint64_t key_;
  std::vector<std::uint32_t> rows_;
  float scale_;
  float bound_;
  std::vector<float> work_, gradient_, step_, residual_, measured_;
  std::vector<std::uint32_t> magnitudes_;
};

}  // namespace hourglass::compress
