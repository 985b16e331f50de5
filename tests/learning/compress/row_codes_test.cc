// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/row_codes.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "tests/learning/compress/vectors.h"

namespace hourglass::compress::testing {
namespace {

TEST(RowCodes, CodesOfEveryLengthArePackedAndUnpacked) {
  for (const unsigned bits : {8U, 6U, 4U}) {
    for (std::size_t count = 0; count < 70; ++count) {
      Bytes codes(count);
      Random random(count);
      for (auto& code : codes) code = static_cast<std::byte>(random.below(1ULL << bits));
      const Bytes packed = pack_codes(codes, bits);
      ASSERT_EQ(packed.size(), packed_bytes(count, bits));
      for (std::size_t i = 0; i < count; ++i) {  // from the low bit, side by side
        unsigned code = 0;
        for (unsigned bit = 0; bit < bits; ++bit) {
          const std::size_t at = i * bits + bit;
          code |= (static_cast<unsigned>(packed[at / 8]) >> (at % 8) & 1U) << bit;
        }
        ASSERT_EQ(code, static_cast<unsigned>(codes[i]));
      }
      Bytes out(count);
      unpack_codes(packed, bits, count, out.data());
      ASSERT_EQ(out, codes);
    }
  }
}

TEST(RowCodes, BitsBehindTheLastCodeAreSeen) {
  EXPECT_TRUE(padding_is_zero({}, 4, 0));
  const Bytes half = {std::byte{0x05}};
  EXPECT_TRUE(padding_is_zero(half, 4, 1));
  EXPECT_TRUE(padding_is_zero(Bytes{std::byte{0xf5}}, 4, 2));
  EXPECT_FALSE(padding_is_zero(Bytes{std::byte{0x15}}, 4, 1));
  EXPECT_FALSE(padding_is_zero(Bytes{std::byte{0x40}}, 6, 1));
}

/// The largest value is within reach, the smallest is exact, and nothing is off by more than a step.
TEST(RowCodes, RowsStayWithinAStep) {
  for (const unsigned bits : {8U, 6U, 4U}) {
    for (const NamedVector& hard : hard_vectors()) {
      if (hard.values.empty()) continue;
      Bytes codes(hard.values.size());
      std::vector<float> out(hard.values.size());
      const RowScale scale = quantize_row(hard.values, bits, 5, codes.data());
      ASSERT_TRUE(check_scale(scale).ok());
      dequantize_row(codes.data(), scale, bits, out);
      for (std::size_t i = 0; i < out.size(); ++i) {
        ASSERT_LE(static_cast<unsigned>(codes[i]), (1U << bits) - 1);
        const double off = std::abs(static_cast<double>(out[i]) - hard.values[i]);
        ASSERT_LE(off, 1.001 * scale.step + std::abs(hard.values[i]) * 1e-6) << hard.name << ' ' << bits;
      }
    }
  }
}

TEST(RowCodes, ScalesOfNoUseAreRefused) {
  EXPECT_EQ(check_scale({NAN, 0}).error().code, Errc::bad_data);
  EXPECT_EQ(check_scale({0, INFINITY}).error().code, Errc::bad_data);
  EXPECT_EQ(check_scale({0, -1}).error().code, Errc::malformed);
  EXPECT_TRUE(check_scale({-FLT_MAX, FLT_MAX}).ok());
}

}  // namespace
}  // namespace hourglass::compress::testing
