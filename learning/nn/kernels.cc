// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set. Everything inline that comes from a header must be in a name space of this variant, or the linker may
// choose the copy with the instructions that the processor lacks: hence the renamed Eigen, and nothing of the standard containers.
#include "learning/nn/kernels.h"

#define HG_JOIN2(a, b) a##b
#define HG_JOIN(a, b) HG_JOIN2(a, b)
#define Eigen HG_JOIN(Eigen_, HG_KERNEL_NAMESPACE)
#define EIGEN_DONT_PARALLELIZE
#define EIGEN_NO_DEBUG
#include <Eigen/Core>

namespace hourglass::nn::HG_KERNEL_NAMESPACE {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::Map<const Matrix> view(const float* data, std::size_t rows, std::size_t columns) {
  return {data, static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns)};
}
Eigen::Map<Matrix> view(float* data, std::size_t rows, std::size_t columns) {
  return {data, static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns)};
}

void relu(const float* source, float* target, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) target[i] = source[i] > 0 ? source[i] : 0;
}

void mask(const float* value, float* gradient, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) gradient[i] = value[i] > 0 ? gradient[i] : 0;
}

void copy(const float* source, float* target, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) target[i] = source[i];
}

void add_bias(const float* bias, float* target, std::size_t rows, std::size_t columns, bool clear_negative) {
  for (std::size_t r = 0; r < rows; ++r) {
    float* row = target + r * columns;
    if (clear_negative) {
      for (std::size_t c = 0; c < columns; ++c) {
        const float sum = row[c] + bias[c];
        row[c] = sum > 0 ? sum : 0;
      }
    } else {
      for (std::size_t c = 0; c < columns; ++c) row[c] += bias[c];
    }
  }
}

void sum_rows(const float* matrix, float* sums, std::size_t rows, std::size_t columns) {
  for (std::size_t c = 0; c < columns; ++c) sums[c] = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) sums[c] += matrix[r * columns + c];
  }
}

/// kLanes and kSize are those of `s` where they are not 0: known at compile time, the loops become a few vector instructions.
template <std::size_t kLanes, std::size_t kSize>
void pool_planes(const float* source, float* target, std::uint8_t* winners, const PoolShape& s, bool clear_negative) {
  constexpr std::size_t kChunk = kLanes == 0 ? 1 : kLanes;
  const std::size_t lanes = kLanes == 0 ? s.lanes : kLanes, size = kSize == 0 ? s.size : kSize;
  const std::size_t rows = s.height / size, columns = s.width / size;
  for (std::size_t plane = 0; plane < s.planes; ++plane) {
    for (std::size_t row = 0; row < rows; ++row) {
      const float* line = source + (plane * s.height + row * size) * s.width * lanes;
      for (std::size_t column = 0; column < columns; ++column) {
        const float* window = line + column * size * lanes;
        for (std::size_t from = 0; from < lanes; from += kChunk) {
          float best[kChunk];
          std::int32_t winner[kChunk];
          for (std::size_t l = 0; l < kChunk; ++l) {
            best[l] = window[from + l];
            winner[l] = 0;
          }
          for (std::size_t k = 1; k < size * size; ++k) {
            const float* at = window + (k / size * s.width + k % size) * lanes + from;
            for (std::size_t l = 0; l < kChunk; ++l) {
              const bool larger = at[l] > best[l];
              best[l] = larger ? at[l] : best[l];
              winner[l] = larger ? static_cast<std::int32_t>(k) : winner[l];
            }
          }
          for (std::size_t l = 0; l < kChunk; ++l) {
            target[l] = best[l];
            winners[l] = static_cast<std::uint8_t>(clear_negative && !(best[l] > 0) ? kNoWinner : winner[l]);
          }
          target += kChunk;
          winners += kChunk;
        }
      }
    }
  }
}

void clear(float* begin, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) begin[i] = 0;
}

template <std::size_t kLanes, std::size_t kSize>
void unpool_planes(const float* gradient, const std::uint8_t* winners, float* result, const PoolShape& s) {
  constexpr std::size_t kChunk = kLanes == 0 ? 1 : kLanes;
  const std::size_t lanes = kLanes == 0 ? s.lanes : kLanes, size = kSize == 0 ? s.size : kSize;
  const std::size_t rows = s.height / size, columns = s.width / size, rest = (s.width - columns * size) * lanes;
  for (std::size_t plane = 0; plane < s.planes; ++plane) {
    float* top = result + plane * s.height * s.width * lanes;
    for (std::size_t row = 0; row < rows; ++row) {
      float* line = top + row * size * s.width * lanes;
      for (std::size_t column = 0; column < columns; ++column) {
        for (std::size_t from = 0; from < lanes; from += kChunk) {
          for (std::size_t k = 0; k < size * size; ++k) {
            float* at = line + (k / size * s.width + column * size + k % size) * lanes + from;
            for (std::size_t l = 0; l < kChunk; ++l) at[l] = winners[l] == k ? gradient[l] : 0;
          }
          gradient += kChunk;
          winners += kChunk;
        }
      }
      for (std::size_t i = 0; i < size; ++i) clear(line + (i * s.width + columns * size) * lanes, rest);
    }
    clear(top + rows * size * s.width * lanes, (s.height - rows * size) * s.width * lanes);
  }
}

void pool_max(const float* source, float* target, std::uint8_t* winners, const PoolShape& s, bool clear_negative) {
  if (s.size == 2 && s.lanes == 16) return pool_planes<16, 2>(source, target, winners, s, clear_negative);
  if (s.size == 2 && s.lanes == 8) return pool_planes<8, 2>(source, target, winners, s, clear_negative);
  if (s.size == 2 && s.lanes == 1) return pool_planes<1, 2>(source, target, winners, s, clear_negative);
  pool_planes<0, 0>(source, target, winners, s, clear_negative);
}

void unpool(const float* target_gradient, const std::uint8_t* winners, float* source_gradient, const PoolShape& s) {
  if (s.size == 2 && s.lanes == 16) return unpool_planes<16, 2>(target_gradient, winners, source_gradient, s);
  if (s.size == 2 && s.lanes == 8) return unpool_planes<8, 2>(target_gradient, winners, source_gradient, s);
  if (s.size == 2 && s.lanes == 1) return unpool_planes<1, 2>(target_gradient, winners, source_gradient, s);
  unpool_planes<0, 0>(target_gradient, winners, source_gradient, s);
}

void multiply_nn(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k) {
  view(c, m, n).noalias() = view(a, m, k) * view(b, k, n);
}
void multiply_nt(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k) {
  view(c, m, n).noalias() = view(a, m, k) * view(b, n, k).transpose();
}
void multiply_tn(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k) {
  view(c, m, n).noalias() = view(a, k, m).transpose() * view(b, k, n);
}

}  // namespace

extern const Kernels kKernels;
const Kernels kKernels = {relu, mask, copy, add_bias, sum_rows, pool_max, unpool, multiply_nn, multiply_nt, multiply_tn};

}  // namespace hourglass::nn::HG_KERNEL_NAMESPACE
