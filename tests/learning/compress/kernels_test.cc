// SPDX-License-Identifier: Apache-2.0
// The kernels of the running processor and the portable ones give the same bits, for every length around their lane counts.
#include "learning/compress/kernels.h"

#include <gtest/gtest.h>

#include <bit>

#include "tests/learning/compress/vectors.h"

namespace hourglass::compress::testing {
namespace {

class KernelsAgree : public ::testing::TestWithParam<std::size_t> {
 protected:
  const Kernels& fast = kernels();
  const Kernels& base = baseline_kernels();
  std::vector<float> x = normal_vector(GetParam(), 1);
  std::vector<float> y = normal_vector(GetParam(), 2);
  std::size_t n = GetParam();

  void SetUp() override {
    for (std::size_t i = 0; i < n; i += 5) x[i] = std::ldexp(x[i], static_cast<int>(i % 200) - 140);  // denormals, too
  }
  template <class T, class F>
  void expect_same(std::size_t size, F&& call) {
    std::vector<T> a(size, T(1));
    std::vector<T> b(size, T(1));
    call(fast, a.data());
    call(base, b.data());
    EXPECT_EQ(size == 0 ? 0 : std::memcmp(a.data(), b.data(), size * sizeof(T)), 0);
  }
};

TEST_P(KernelsAgree, Rice) {
  Random random(n);
  std::vector<std::uint32_t> indices;
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < n; ++i, ++next) indices.push_back(next += static_cast<std::uint32_t>(random.below(i % 50 == 0 ? 5000 : 60)));
  if (n == 0) return;
  for (unsigned first = 0; first + kGapSums <= 12; ++first) {
    expect_same<std::uint64_t>(kGapSums, [&](const Kernels& k, std::uint64_t* out) { k.gap_sums(indices.data(), n, first, out); });
  }
  for (unsigned parameter = 0; parameter <= 31; ++parameter) {
    std::uint64_t bits = 0;
    std::uint32_t expected = 0;
    for (const std::uint32_t index : indices) {
      bits += ((index - expected) >> parameter) + 1 + parameter;
      expected = index + 1;
    }
    const std::size_t size = (bits + 7) / 8;
    expect_same<std::byte>(size, [&](const Kernels& k, std::byte* out) {
      Bytes bytes(size + 8);
      k.rice_encode(indices.data(), n, parameter, bytes.data());
      std::copy_n(bytes.begin(), size, out);
      std::vector<std::uint32_t> back(n);
      EXPECT_EQ(k.rice_decode({bytes.data(), size, n, expected, parameter}, back.data()), bits);
      EXPECT_EQ(back, indices);
      EXPECT_EQ(k.rice_decode({bytes.data(), size, n, expected - 1U, parameter}, back.data()), kRiceBeyond);
    });
  }
}

TEST_P(KernelsAgree, Compaction) {
  for (const float threshold : {1e-45F, 0.5F, 2.0F, 100.0F}) {
    for (const std::size_t capacity : {n, n / 2, std::size_t{0}}) {
      std::vector<std::uint32_t> indices_a(capacity + kCompactSlack);
      std::vector<std::uint32_t> indices_b(capacity + kCompactSlack);
      std::vector<float> kept_a(capacity + kCompactSlack);
      std::vector<float> kept_b(capacity + kCompactSlack);
      std::vector<float> sum_a(n);
      std::vector<float> sum_b(n);
      const auto bits = std::bit_cast<std::uint32_t>(threshold);
      const Compacted a = fast.add_compact(x.data(), y.data(), sum_a.data(), n, bits, indices_a.data(), kept_a.data(), capacity);
      const Compacted b = base.add_compact(x.data(), y.data(), sum_b.data(), n, bits, indices_b.data(), kept_b.data(), capacity);
      EXPECT_EQ(sum_a, sum_b);
      EXPECT_TRUE(a.finite && b.finite);
      ASSERT_EQ(a.count > capacity, b.count > capacity);
      if (a.count > capacity) continue;
      ASSERT_EQ(a.count, b.count);
      const Compacted c = fast.compact(sum_a.data(), n, bits, indices_b.data(), kept_b.data(), capacity);
      ASSERT_EQ(a.count, c.count);
      for (std::size_t i = 0; i < a.count; ++i) {
        ASSERT_EQ(indices_a[i], indices_b[i]);
        ASSERT_EQ(kept_a[i], sum_a[indices_a[i]]);
      }
      ASSERT_EQ(a.count,
                static_cast<std::size_t>(std::count_if(sum_a.begin(), sum_a.end(), [&](float v) { return std::abs(v) >= threshold; })));
    }
  }
}

TEST_P(KernelsAgree, FindNonFinite) {
  if (n == 0) return;
  for (const std::size_t at : {std::size_t{0}, n / 2, n - 1}) {
    for (const float bad : {std::nanf(""), HUGE_VALF, -HUGE_VALF, FLT_MAX}) {
      auto z = x;
      z[at] = bad;
      const bool good = bad == FLT_MAX;
      std::vector<float> sum(n);
      std::vector<std::uint32_t> indices(n + kCompactSlack);
      std::vector<float> kept(n + kCompactSlack);
      const std::vector<float> zero(n, 0.0F);
      for (const Kernels* each : {&fast, &base}) {
        EXPECT_EQ(each->finite(z.data(), n), good);
        EXPECT_EQ(each->add(z.data(), zero.data(), sum.data(), n), good);
        EXPECT_EQ(each->add_compact(z.data(), zero.data(), sum.data(), n, 1, indices.data(), kept.data(), n).finite, good);
        EXPECT_EQ(each->add_compact(zero.data(), z.data(), sum.data(), n, 0x7f7fffffU, indices.data(), kept.data(), 0).finite, good);
        EXPECT_EQ(each->row_range(z.data(), n).finite, good);
        Bytes halves(2 * n);
        each->to_bf16(z.data(), halves.data(), n);
        EXPECT_EQ(each->finite_bf16(halves.data(), n), good);
      }
    }
  }
}

TEST_P(KernelsAgree, Arithmetic) {
  expect_same<float>(n, [&](const Kernels& k, float* out) { k.add(x.data(), y.data(), out, n); });
  expect_same<double>(1, [&](const Kernels& k, double* out) { *out = k.sum_of_squares(x.data(), n); });
  expect_same<float>(n, [&](const Kernels& k, float* out) { k.add_f32(reinterpret_cast<const std::byte*>(x.data()), out, n, 0.3F); });
  Bytes halves(2 * n);
  base.to_bf16(x.data(), halves.data(), n);
  expect_same<std::byte>(2 * n, [&](const Kernels& k, std::byte* out) { k.to_bf16(x.data(), out, n); });
  expect_same<float>(n, [&](const Kernels& k, float* out) { k.from_bf16(halves.data(), out, n); });
  expect_same<float>(n, [&](const Kernels& k, float* out) { k.add_bf16(halves.data(), out, n, -0.7F); });
}

TEST_P(KernelsAgree, TwoBits) {
  const float table[4] = {0.1F, 0.7F, -0.1F, -0.7F};
  Bytes codes((n + 3) / 4);
  base.pack_two_bits(x.data(), n, 0.6F, codes.data());
  expect_same<std::byte>(codes.size(), [&](const Kernels& k, std::byte* out) { k.pack_two_bits(x.data(), n, 0.6F, out); });
  expect_same<float>(n, [&](const Kernels& k, float* out) { k.add_two_bits(codes.data(), table, out, n); });
  const LevelSums a = fast.level_sums(x.data(), n, 0.6F);
  const LevelSums b = base.level_sums(x.data(), n, 0.6F);
  EXPECT_EQ(a.low, b.low);
  EXPECT_EQ(a.high, b.high);
  EXPECT_EQ(a.high_count, b.high_count);
  EXPECT_EQ(a.high_count, static_cast<std::size_t>(std::count_if(x.begin(), x.end(), [](float v) { return std::abs(v) > 0.6F; })));
  if (n == 0) return;
  EXPECT_EQ(fast.magnitudes(x.data(), n).low, base.magnitudes(x.data(), n).low);
  EXPECT_EQ(fast.magnitudes(x.data(), n).high, base.magnitudes(x.data(), n).high);
}

TEST_P(KernelsAgree, Ones) {
  Random random(n + 1);
  for (const std::uint64_t one_in : {1UL, 2UL, 10UL, 100UL}) {
    Bytes bits(n);
    std::vector<std::uint32_t> expected;
    for (std::size_t i = 0; i < 8 * n; ++i) {
      if (random.below(one_in) != 0) continue;
      bits[i / 8] |= static_cast<std::byte>(1U << (i % 8));
      expected.push_back(static_cast<std::uint32_t>(i));
    }
    for (const Kernels* each : {&fast, &base}) {
      ASSERT_EQ(each->count_ones(bits.data(), n), expected.size());
      std::vector<std::uint32_t> positions(expected.size() + kExpandSlack);
      each->expand_ones(bits.data(), n, positions.data());
      positions.resize(expected.size());
      ASSERT_EQ(positions, expected);
    }
  }
}

TEST_P(KernelsAgree, Rows) {
  if (n == 0) return;
  const RowRange range = fast.row_range(x.data(), n);
  EXPECT_EQ(range.low, *std::min_element(x.begin(), x.end()));
  EXPECT_EQ(range.high, *std::max_element(x.begin(), x.end()));
  EXPECT_EQ(base.row_range(x.data(), n).low, range.low);
  EXPECT_EQ(base.row_range(x.data(), n).high, range.high);
  Bytes codes(n);
  const float inverse = range.high == range.low ? 0 : 255 / (range.high - range.low);
  base.quantize_row(x.data(), n, range.low, inverse, 0x123456789abcdefULL, codes.data());
  expect_same<std::byte>(
      n, [&](const Kernels& k, std::byte* out) { k.quantize_row(x.data(), n, range.low, inverse, 0x123456789abcdefULL, out); });
  expect_same<float>(n, [&](const Kernels& k, float* out) { k.dequantize_row(codes.data(), n, range.low, 0.01F, out); });
}

TEST_P(KernelsAgree, Rotation) {
  expect_same<float>(n, [&](const Kernels& k, float* out) { k.flip_signs(x.data(), n, 0x123456789abcdefULL, 0.3F, out); });
  std::vector<float> flipped(n);
  fast.flip_signs(x.data(), n, 5, 1.0F, flipped.data());
  for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(std::abs(flipped[i]), std::abs(x[i]));
  fast.flip_signs(flipped.data(), n, 5, 1.0F, flipped.data());
  EXPECT_EQ(flipped, x);
  const std::size_t size = std::bit_floor(n);
  if (size < 8) return;
  expect_same<float>(size, [&](const Kernels& k, float* out) {
    std::copy_n(x.data(), size, out);
    k.hadamard(out, size);
  });
  Bytes bits(size / 8);
  base.pack_signs(x.data(), size, 0.5F, 77, bits.data());
  expect_same<std::byte>(size / 8, [&](const Kernels& k, std::byte* out) { k.pack_signs(x.data(), size, 0.5F, 77, out); });
  expect_same<float>(size, [&](const Kernels& k, float* out) { k.unpack_signs(bits.data(), size, out); });
  std::vector<float> signs(size);
  fast.pack_signs(x.data(), size, 0, 77, bits.data());
  fast.unpack_signs(bits.data(), size, signs.data());
  for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(signs[i], x[i] < 0 ? -1 : 1);
}

TEST_P(KernelsAgree, Products) {
  expect_same<float>(1, [&](const Kernels& k, float* out) { *out = k.dot(x.data(), y.data(), n); });
  const auto z = normal_vector(n, 8);
  double expected = 0;
  for (std::size_t i = 0; i < n; ++i) expected += static_cast<double>(z[i]) * y[i];
  EXPECT_NEAR(fast.dot(z.data(), y.data(), n), expected, 1e-4 * std::sqrt(static_cast<double>(n + 1)));
  for (const std::size_t rank : {1UL, 3UL}) {
    const std::size_t columns = n / rank;
    const std::size_t rows = 7;
    const auto left = normal_vector(rank * rows, 3);
    const auto* a = reinterpret_cast<const std::byte*>(left.data());
    const auto* b = reinterpret_cast<const std::byte*>(y.data());
    expect_same<float>(rows * columns, [&](const Kernels& k, float* out) { k.add_outer(a, rows, b, columns, rank, -0.7F, out); });
    std::vector<float> sum(rows * columns, 1.0F);
    fast.add_outer(a, rows, b, columns, rank, 2.0F, sum.data());
    for (std::size_t i = 0; i < sum.size(); ++i) {
      double value = 0;
      for (std::size_t k = 0; k < rank; ++k) value += static_cast<double>(left[k * rows + i / columns]) * y[k * columns + i % columns];
      ASSERT_NEAR(sum[i], 1 + 2 * value, 1e-4);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Lengths, KernelsAgree,
                         ::testing::Values(0, 1, 3, 4, 5, 7, 8, 9, 15, 31, 32, 33, 63, 64, 65, 100, 1023, 1024, 1029, 10000));

}  // namespace
}  // namespace hourglass::compress::testing
