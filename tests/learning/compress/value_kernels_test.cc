// SPDX-License-Identifier: Apache-2.0
// The kernels of the running processor and the portable ones give the same bits, for every length around their group sizes.
#include "learning/compress/value_kernels.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/learning/compress/vectors.h"

namespace hourglass::compress::testing {
namespace {

class ValueKernelsAgree : public ::testing::TestWithParam<std::size_t> {
 protected:
  const ValueKernels& fast = value_kernels();
  const ValueKernels& base = baseline_value_kernels();
  std::size_t n = GetParam();
  std::vector<float> x = normal_vector(GetParam(), 1);
  std::vector<std::uint32_t> places = std::vector<std::uint32_t>(GetParam());

  void SetUp() override {
    for (std::size_t i = 0; i < n; i += 5) x[i] = std::ldexp(x[i], static_cast<int>(i % 200) - 140);  // denormals, too
    for (std::size_t i = 0; i < n; i += 7) x[i] = -0.0F;
    std::iota(places.rbegin(), places.rend(), 0U);
  }
  /// The blob is exactly as long as it must be, so that a sanitizer sees what is read behind it.
  template <class T, class F>
  void expect_same(std::size_t size, F&& call) {
    std::vector<T> a(size, T(1));
    std::vector<T> b(size, T(1));
    call(fast, a.data());
    call(base, b.data());
    EXPECT_EQ(size == 0 ? 0 : std::memcmp(a.data(), b.data(), size * sizeof(T)), 0);
  }
};

TEST_P(ValueKernelsAgree, Halves) {
  Bytes halves(2 * n);
  base.to_f16(x.data(), halves.data(), n);
  expect_same<std::byte>(2 * n, [&](const ValueKernels& k, std::byte* out) { k.to_f16(x.data(), out, n); });
  expect_same<float>(n, [&](const ValueKernels& k, float* out) { k.add_f16(halves.data(), out, n, -0.7F); });
  expect_same<float>(n, [&](const ValueKernels& k, float* out) { k.scatter_f16(halves.data(), places.data(), out, n, 0.3F); });
  EXPECT_TRUE(fast.finite_f16(halves.data(), n) && base.finite_f16(halves.data(), n));
}

TEST_P(ValueKernelsAgree, Codes) {
  Random random(n + 1);
  for (unsigned bits = 1; bits <= 8; ++bits) {
    std::vector<std::uint8_t> codes(n);
    for (auto& code : codes) code = static_cast<std::uint8_t>(random.below(1U << bits));
    const std::vector<float> table = normal_vector(1U << bits, bits);
    Bytes packed((n * bits + 7) / 8);
    base.pack_codes(codes.data(), n, bits, packed.data());
    expect_same<std::byte>(packed.size(), [&](const ValueKernels& k, std::byte* out) { k.pack_codes(codes.data(), n, bits, out); });
    const FromCodes from{table.data(), 1.7F, -0.3F};
    expect_same<float>(n, [&](const ValueKernels& k, float* out) { k.add_codes(packed.data(), bits, from, out, n); });
    std::vector<float> sum(n, 1.0F);
    std::vector<float> scattered(n, 1.0F);
    fast.add_codes(packed.data(), bits, from, sum.data(), n);
    fast.scatter_codes(packed.data(), bits, from, places.data(), scattered.data(), n);
    const unsigned largest = n == 0 ? 0 : *std::max_element(codes.begin(), codes.end());
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_EQ(sum[i], 1.0F + -0.3F * (1.7F * table[codes[i]])) << bits;
      ASSERT_EQ(sum[i], scattered[places[i]]) << bits;
    }
    for (const ValueKernels* each : {&fast, &base}) {
      EXPECT_TRUE(each->codes_within(packed.data(), bits, 255, largest, n));
      if (largest > 0) {
        EXPECT_FALSE(each->codes_within(packed.data(), bits, 255, largest - 1, n));
      }
    }
  }
}

TEST_P(ValueKernelsAgree, Trits) {
  std::vector<std::uint8_t> codes(n);
  for (std::size_t i = 0; i < n; ++i) codes[i] = static_cast<std::uint8_t>(std::array{0, 1, 3}[i * i % 11 % 3]);
  const float table[3] = {0.0F, 0.7F, -0.7F};
  Bytes trits((n + 4) / 5);
  base.pack_trits(codes.data(), n, trits.data());
  expect_same<std::byte>(trits.size(), [&](const ValueKernels& k, std::byte* out) { k.pack_trits(codes.data(), n, out); });
  for (const ValueKernels* each : {&fast, &base}) {
    std::vector<float> sum(n, 0.0F);
    std::vector<float> scattered(n, 0.0F);
    each->add_trits(trits.data(), table, sum.data(), n);
    each->scatter_trits(trits.data(), table, places.data(), scattered.data(), n);
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_EQ(sum[i], codes[i] == 0 ? 0.0F : codes[i] == 1 ? 0.7F : -0.7F);
      ASSERT_EQ(sum[i], scattered[places[i]]);
    }
  }
}

TEST_P(ValueKernelsAgree, Quantizers) {
  const ToLevels how{1.0F, 40.0F, 127.0F};
  const ToLevels raised{0x1p64F, 1e-15F, 5.0F};
  for (const ToLevels& each : {how, raised}) {
    expect_same<std::uint8_t>(
        n, [&](const ValueKernels& k, std::uint8_t* out) { k.to_levels(x.data(), n, each, 128, 0xabcdef12345678ULL, 9, out); });
    expect_same<std::uint8_t>(n, [&](const ValueKernels& k, std::uint8_t* out) { k.to_nearest(x.data(), n, each, 128, out); });
  }
  std::vector<std::uint8_t> exponents(n);
  base.to_exponents(x.data(), n, 77, 3, exponents.data());
  expect_same<std::uint8_t>(n, [&](const ValueKernels& k, std::uint8_t* out) { k.to_exponents(x.data(), n, 77, 3, out); });
  Bytes signs((n + 7) / 8);
  base.pack_signs(x.data(), n, signs.data());
  expect_same<std::byte>(signs.size(), [&](const ValueKernels& k, std::byte* out) { k.pack_signs(x.data(), n, out); });
  const auto* fields = reinterpret_cast<const std::byte*>(exponents.data());
  expect_same<float>(n, [&](const ValueKernels& k, float* out) { k.add_exponents(fields, signs.data(), out, n, 0.3F); });
  expect_same<float>(n, [&](const ValueKernels& k, float* out) { k.scatter_exponents(fields, signs.data(), places.data(), out, n, 0.3F); });
  expect_same<std::byte>((n + 3) / 4, [&](const ValueKernels& k, std::byte* out) { k.pack_threshold(x.data(), n, 0.6F, out); });
  const SideSums a = fast.side_sums(x.data(), n);
  const SideSums b = base.side_sums(x.data(), n);
  EXPECT_EQ(a.positive, b.positive);
  EXPECT_EQ(a.negative, b.negative);
  EXPECT_EQ(a.negative_count, b.negative_count);
  EXPECT_EQ(a.negative_count, static_cast<std::size_t>(std::count_if(x.begin(), x.end(), [](float v) { return std::signbit(v); })));
  const Piece piece{{0.5, 0.3, -0.2, 0.7, 0.1, -0.9}, 0.25, 3.0};
  expect_same<float>(n, [&](const ValueKernels& k, float* out) { k.evaluate(piece, out, n); });
}

INSTANTIATE_TEST_SUITE_P(Lengths, ValueKernelsAgree,
                         ::testing::Values(0, 1, 2, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 100, 1024, 1029, 10000));

}  // namespace
}  // namespace hourglass::compress::testing
