// SPDX-License-Identifier: Apache-2.0
// The products and loops of every build that this processor can run, against double precision.
#include "learning/nn/gemm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/cpu.h"
#include "learning/nn/kernels.h"
#include "reference.h"

namespace hourglass::nn {
namespace {

using Product = void (*)(const float* a, const float* b, float* c, std::size_t m, std::size_t n, std::size_t k);

struct Products {
  const char* name;
  Product nn, nt, tn;
};

std::vector<Products> products() {
  std::vector<Products> out = {{"chosen", multiply_nn, multiply_nt, multiply_tn}};
  const auto add = [&](const char* name, const Kernels& set) { out.push_back({name, set.multiply_nn, set.multiply_nt, set.multiply_tn}); };
  add("base", kernels_base::kKernels);
#if defined(__x86_64__)
  if (has_x86_64_v3()) add("v3", kernels_v3::kKernels);
#endif
  return out;
}

TEST(Gemm, multiplies_in_every_build) {
  struct Size {
    std::size_t m, n, k;
  };
  for (const auto [m, n, k] : {Size{1, 1, 1}, Size{3, 5, 7}, Size{1, 40, 130}, Size{32, 120, 400}, Size{17, 3, 65}, Size{64, 33, 2}}) {
    const auto a = random_floats(m * k, 1), b = random_floats(k * n, 2);
    std::vector<float> a_turned(a.size()), b_turned(b.size()), c(m * n);
    Doubles expected(m * n);
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t q = 0; q < k; ++q) expected[i * n + j] += static_cast<double>(a[i * k + q]) * b[q * n + j];
      }
    }
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t q = 0; q < k; ++q) a_turned[q * m + i] = a[i * k + q];
    }
    for (std::size_t q = 0; q < k; ++q) {
      for (std::size_t j = 0; j < n; ++j) b_turned[j * k + q] = b[q * n + j];
    }
    for (const Products& set : products()) {
      const auto check = [&](Product product, const std::vector<float>& left, const std::vector<float>& right) {
        std::fill(c.begin(), c.end(), std::nanf(""));
        product(left.data(), right.data(), c.data(), m, n, k);
        EXPECT_LT(largest_error(c, expected), 1e-5) << set.name << " " << m << "x" << n << "x" << k;
      };
      check(set.nn, a, b);
      check(set.nt, a, b_turned);
      check(set.tn, a_turned, b);
    }
  }
}

TEST(Kernels, loops_agree_in_every_build) {
  std::vector<const Kernels*> sets = {&kernels_base::kKernels, &kernels()};
#if defined(__x86_64__)
  if (has_x86_64_v3()) sets.push_back(&kernels_v3::kKernels);
#endif
  const std::size_t rows = 7, columns = 37, size = rows * columns;
  auto x = random_floats(size, 1);
  x[5] = 0;
  x[6] = -0.0F;
  const auto bias = random_floats(columns, 2), gradient = random_floats(size, 3);
  for (const Kernels* set : sets) {
    std::vector<float> y(size), masked = gradient, plain = x, clipped = x, sums(columns), copied(size);
    set->relu(x.data(), y.data(), size);
    set->mask(x.data(), masked.data(), size);
    set->copy(x.data(), copied.data(), size);
    set->add_bias(bias.data(), plain.data(), rows, columns, false);
    set->add_bias(bias.data(), clipped.data(), rows, columns, true);
    set->sum_rows(x.data(), sums.data(), rows, columns);
    EXPECT_EQ(copied, x);
    for (std::size_t i = 0; i < size; ++i) {
      EXPECT_EQ(y[i], std::max(x[i], 0.0F));
      EXPECT_EQ(masked[i], x[i] > 0 ? gradient[i] : 0.0F);
      EXPECT_EQ(plain[i], x[i] + bias[i % columns]);
      EXPECT_EQ(clipped[i], std::max(x[i] + bias[i % columns], 0.0F));
    }
    for (std::size_t c = 0; c < columns; ++c) {
      float sum = 0;
      for (std::size_t r = 0; r < rows; ++r) sum += x[r * columns + c];
      EXPECT_EQ(sums[c], sum);
    }
  }
}

}  // namespace
}  // namespace hourglass::nn
