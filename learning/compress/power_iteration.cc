// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/power_iteration.h"

#include <algorithm>
#include <cmath>

#include "learning/compress/hash.h"
#include "learning/compress/kernels.h"

namespace hourglass::compress {
namespace {

/// Below this share of its length before, what is left of a vector is rounding.
constexpr double kDependent = 1e-5;

double length_of(std::span<const float> vector) { return std::sqrt(kernels().sum_of_squares(vector.data(), vector.size())); }

void scale(std::span<float> vector, double factor) {
  for (float& value : vector) value = static_cast<float>(value * factor);
}

double product(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

std::span<float> vector_of(std::span<float> block, std::size_t rank, std::size_t k) {
  const std::size_t length = block.size() / rank;
  return block.subspan(k * length, length);
}

void add_scaled(std::span<const float> from, float factor, std::span<float> to) {
  kernels().add_f32(reinterpret_cast<const std::byte*>(from.data()), to.data(), to.size(), factor);
}

/// out_k(row) = <matrix row, vector_k>: rank x rows.
std::vector<float> times(const MatrixView& matrix, std::span<const float> vectors, std::size_t rank) {
  std::vector<float> out(rank * matrix.rows);
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    const float* values = matrix.values.data() + row * matrix.columns;
    for (std::size_t k = 0; k < rank; ++k) {
      out[k * matrix.rows + row] = kernels().dot(values, vectors.data() + k * matrix.columns, matrix.columns);
    }
  }
  return out;
}

/// out_k = sum over rows of vector_k(row) * matrix row: rank x columns.
void transposed_times(const MatrixView& matrix, std::span<const float> vectors, std::size_t rank, std::span<float> out) {
  std::fill(out.begin(), out.end(), 0.0F);
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    const auto values = matrix.values.subspan(row * matrix.columns, matrix.columns);
    for (std::size_t k = 0; k < rank; ++k) add_scaled(values, vectors[k * matrix.rows + row], vector_of(out, rank, k));
  }
}

}  // namespace

std::vector<float> random_basis(std::size_t rank, std::size_t length, std::uint64_t seed) {
  std::vector<float> out(rank * length);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<float>(static_cast<std::int32_t>(mix(mix(seed) + i) >> 32)) * 0x1p-31F;
  }
  return out;
}

void orthonormalise(std::span<float> vectors, std::size_t rank) {
  for (std::size_t k = 0; k < rank; ++k) {
    const auto vector = vector_of(vectors, rank, k);
    const double before = length_of(vector);
    scale(vector, before > 0 ? 1 / before : 0);
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t other = 0; other < k; ++other) {
        const auto known = vector_of(vectors, rank, other);
        add_scaled(known, static_cast<float>(-product(known, vector)), vector);
      }
      const double left = length_of(vector);
      scale(vector, left > kDependent ? 1 / left : 0);
    }
  }
}

void refresh(std::span<float> vectors, std::size_t rank, std::uint64_t seed) {
  for (std::size_t k = 0; k < rank; ++k) {
    const auto vector = vector_of(vectors, rank, k);
    if (length_of(vector) == 0) {
      const std::vector<float> drawn = random_basis(1, vector.size(), seed + k);
      std::copy(drawn.begin(), drawn.end(), vector.begin());
    }
    scale(vector, 1 / length_of(vector));
  }
}

std::vector<float> power_step(const MatrixView& matrix, std::span<float> right, std::size_t rank) {
  std::vector<float> left = times(matrix, right, rank);
  orthonormalise(left, rank);
  transposed_times(matrix, left, rank, right);
  return left;
}

std::vector<float> power_step(const MatrixView& a, const MatrixView& b, std::span<float> right, std::size_t rank) {
  std::vector<float> left(rank * a.columns);
  transposed_times(a, times(b, right, rank), rank, left);
  orthonormalise(left, rank);
  transposed_times(b, times(a, left, rank), rank, right);
  return left;
}

}  // namespace hourglass::compress
