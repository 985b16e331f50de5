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

/// Eight channels at once, as GCC's vector types, since it does not vectorise the choice of a winner by itself.
struct Lanes8 {
  static constexpr std::size_t kCount = 8;
  using Values = float __attribute__((vector_size(32)));
  using Numbers = std::int32_t __attribute__((vector_size(32)));
  using Narrow = std::uint8_t __attribute__((vector_size(8)));
  static void narrow(const Numbers& from, std::uint8_t* to) {
    const Narrow bytes = __builtin_convertvector(from, Narrow);
    __builtin_memcpy(to, &bytes, sizeof bytes);
  }
  static void widen(const std::uint8_t* from, Numbers& to) {
    Narrow bytes;
    __builtin_memcpy(&bytes, from, sizeof bytes);
    to = __builtin_convertvector(bytes, Numbers);
  }
};

/// One channel, for plain layouts.
struct Lane1 {
  static constexpr std::size_t kCount = 1;
  using Values = float;
  using Numbers = std::int32_t;
  static void narrow(Numbers from, std::uint8_t* to) { *to = static_cast<std::uint8_t>(from); }
  static void widen(const std::uint8_t* from, Numbers& to) { to = *from; }
};

template <class Values>
void load(const float* from, Values& to) {
  __builtin_memcpy(&to, from, sizeof to);
}
template <class Values>
void store(const Values& from, float* to) {
  __builtin_memcpy(to, &from, sizeof from);
}

/// kSize is the window's size where it is not 0: known at compile time, the loop over the window unrolls.
template <class Lane, std::size_t kSize>
void pool_planes(const float* source, float* target, std::uint8_t* winners, const PoolShape& s, bool clear_negative) {
  const std::size_t size = kSize == 0 ? s.size : kSize, rows = s.height / size, columns = s.width / size;
  const typename Lane::Numbers none = typename Lane::Numbers{} + kNoWinner;
  for (std::size_t plane = 0; plane < s.planes; ++plane) {
    for (std::size_t row = 0; row < rows; ++row) {
      const float* line = source + (plane * s.height + row * size) * s.width * s.lanes;
      for (std::size_t column = 0; column < columns; ++column, line += size * s.lanes) {
        for (std::size_t from = 0; from < s.lanes; from += Lane::kCount) {
          typename Lane::Values best, value;
          typename Lane::Numbers winner{};
          load(line + from, best);
          for (std::size_t i = 0; i < size; ++i) {
            for (std::size_t j = 0; j < size; ++j) {
              load(line + (i * s.width + j) * s.lanes + from, value);
              const auto larger = value > best;
              winner = larger ? typename Lane::Numbers{} + static_cast<std::int32_t>(i * size + j) : winner;
              best = larger ? value : best;
            }
          }
          if (clear_negative) winner = best > 0 ? winner : none;
          store(best, target);
          Lane::narrow(winner, winners);
          target += Lane::kCount;
          winners += Lane::kCount;
        }
      }
    }
  }
}

void clear(float* begin, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) begin[i] = 0;
}

template <class Lane, std::size_t kSize>
void unpool_planes(const float* gradient, const std::uint8_t* winners, float* result, const PoolShape& s) {
  const std::size_t size = kSize == 0 ? s.size : kSize, rows = s.height / size, columns = s.width / size;
  const std::size_t rest = (s.width - columns * size) * s.lanes;
  for (std::size_t plane = 0; plane < s.planes; ++plane) {
    float* top = result + plane * s.height * s.width * s.lanes;
    for (std::size_t row = 0; row < rows; ++row) {
      float* line = top + row * size * s.width * s.lanes;
      for (std::size_t column = 0; column < columns; ++column, line += size * s.lanes) {
        for (std::size_t from = 0; from < s.lanes; from += Lane::kCount) {
          typename Lane::Values slope;
          typename Lane::Numbers winner;
          load(gradient, slope);
          Lane::widen(winners, winner);
          for (std::size_t i = 0; i < size; ++i) {
            for (std::size_t j = 0; j < size; ++j) {
              const typename Lane::Values here = winner == static_cast<std::int32_t>(i * size + j) ? slope : typename Lane::Values{};
              store(here, line + (i * s.width + j) * s.lanes + from);
            }
          }
          gradient += Lane::kCount;
          winners += Lane::kCount;
        }
      }
      for (std::size_t i = 0; i < size; ++i) clear(line + i * s.width * s.lanes, rest);
    }
    clear(top + rows * size * s.width * s.lanes, (s.height - rows * size) * s.width * s.lanes);
  }
}

void pool_max(const float* source, float* target, std::uint8_t* winners, const PoolShape& s, bool clear_negative) {
  if (s.lanes % Lanes8::kCount != 0) return pool_planes<Lane1, 0>(source, target, winners, s, clear_negative);
  if (s.size == 2) return pool_planes<Lanes8, 2>(source, target, winners, s, clear_negative);
  pool_planes<Lanes8, 0>(source, target, winners, s, clear_negative);
}

void unpool(const float* target_gradient, const std::uint8_t* winners, float* source_gradient, const PoolShape& s) {
  if (s.lanes % Lanes8::kCount != 0) return unpool_planes<Lane1, 0>(target_gradient, winners, source_gradient, s);
  if (s.size == 2) return unpool_planes<Lanes8, 2>(target_gradient, winners, source_gradient, s);
  unpool_planes<Lanes8, 0>(target_gradient, winners, source_gradient, s);
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
