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
const Kernels kKernels = {relu, mask, copy, add_bias, sum_rows, multiply_nn, multiply_nt, multiply_tn};

}  // namespace hourglass::nn::HG_KERNEL_NAMESPACE
