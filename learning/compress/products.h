// SPDX-License-Identifier: Apache-2.0
// Part of kernels.cc alone: inner products, and sums of outer products.
#pragma once

#include "learning/compress/compaction.h"

namespace hourglass::compress::HG_KERNEL_NAMESPACE {
namespace {

/// Eight floats of the compiler's own: one register or two, the same sums in either.
using Eight = float __attribute__((vector_size(32)));

float dot(const float* a, const float* b, std::size_t count) {
  Eight sums[4] = {};
  std::size_t i = 0;
  Eight x;
  Eight y;
  for (; i + 32 <= count; i += 32) {
    for (std::size_t lane = 0; lane < 4; ++lane) {
      std::memcpy(&x, a + i + 8 * lane, sizeof x);
      std::memcpy(&y, b + i + 8 * lane, sizeof y);
      sums[lane] += x * y;
    }
  }
  float rest = 0;
  for (; i < count; ++i) rest += a[i] * b[i];
  const Eight all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  for (std::size_t lane = 0; lane < 8; ++lane) rest += all[lane];
  return rest;
}

/// Rows [row, row + kRows), columns [column, column + 16): the products are summed in registers, in the order of k.
template <std::size_t kRows>
void outer_tile(const std::byte* left, std::size_t rows, std::size_t row, const std::byte* right, std::size_t columns, std::size_t column,
                std::size_t rank, float weight, float* target) {
  Eight sums[kRows][2] = {};
  Eight low;  // not an array, which would be copied through memory
  Eight high;
  for (std::size_t k = 0; k < rank; ++k) {
    const std::byte* factor = right + (k * columns + column) * sizeof(float);
    std::memcpy(&low, factor, sizeof low);
    std::memcpy(&high, factor + sizeof low, sizeof high);
#pragma GCC unroll 4
    for (std::size_t i = 0; i < kRows; ++i) {
      float scale;
      std::memcpy(&scale, left + (k * rows + row + i) * sizeof(float), sizeof scale);
      sums[i][0] += low * scale;
      sums[i][1] += high * scale;
    }
  }
#pragma GCC unroll 4
  for (std::size_t i = 0; i < kRows; ++i) {
    float* to = target + (row + i) * columns + column;
    std::memcpy(&low, to, sizeof low);
    std::memcpy(&high, to + 8, sizeof high);
    low += sums[i][0] * weight;
    high += sums[i][1] * weight;
    std::memcpy(to, &low, sizeof low);
    std::memcpy(to + 8, &high, sizeof high);
  }
}

void add_outer(const std::byte* left, std::size_t rows, const std::byte* right, std::size_t columns, std::size_t rank, float weight,
               float* target) {
  const std::size_t whole = columns / 16 * 16;
  std::size_t row = 0;
  for (; row + 4 <= rows; row += 4) {
    for (std::size_t column = 0; column < whole; column += 16) {
      outer_tile<4>(left, rows, row, right, columns, column, rank, weight, target);
    }
  }
  for (; row < rows; ++row) {
    for (std::size_t column = 0; column < whole; column += 16) {
      outer_tile<1>(left, rows, row, right, columns, column, rank, weight, target);
    }
  }
  for (row = 0; row < rows; ++row) {
    for (std::size_t column = whole; column < columns; ++column) {
      float sum = 0;
      for (std::size_t k = 0; k < rank; ++k) {
        float a;
        float b;
        std::memcpy(&a, left + (k * rows + row) * sizeof(float), sizeof a);
        std::memcpy(&b, right + (k * columns + column) * sizeof(float), sizeof b);
        sum += b * a;
      }
      target[row * columns + column] += sum * weight;
    }
  }
}

}  // namespace
}  // namespace hourglass::compress::HG_KERNEL_NAMESPACE
