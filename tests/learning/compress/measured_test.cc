// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/measured.h"

#include <gtest/gtest.h>

#include "learning/compress/sensing.h"
#include "tests/learning/compress/hostile.h"

namespace hourglass::compress::testing {
namespace {

/// What would be kept of each block of 512.
std::vector<float> kept(const std::vector<float>& values, std::size_t count) {
  std::vector<float> out(values.size(), 0.0F);
  for (std::size_t begin = 0; begin < values.size(); begin += 512) {
    const auto part = std::span(values).subspan(begin, std::min<std::size_t>(512, values.size() - begin));
    for (const std::uint32_t i : largest_of(part, count)) out[begin + i] = part[i];
  }
  return out;
}

TEST(Measured, FindsWhatWasKeptUpToQuantization) {
  const std::size_t length = std::size_t{512} * 200;
  const auto values = normal_vector(length, 3);
  const auto expected = kept(values, 16);
  double before = 1;
  for (const char* bits : {"1", "2", "3", "4"}) {
    const auto out = decoded(compressor_of(std::string("measured bits=") + bits, length)->compress(values, 1), length);
    const double error = squared_error(out, expected) / energy(expected);
    EXPECT_LT(error, before) << bits;
    before = error;
  }
  EXPECT_LT(before, 0.05);
}

TEST(Measured, CostsLessThanOneBitAnElement) {
  const std::size_t length = std::size_t{512} * 100;
  const GradientBlock block = compressor_of("measured", length)->compress(normal_vector(length, 1), 0);
  EXPECT_EQ(payload(block), 14 + 100 * (4 + 128 * 3 / 8));
  EXPECT_LT(8.0 * static_cast<double>(payload(block)) / static_cast<double>(length), 0.82);
}

TEST(Measured, ResidualStaysBounded) {
  const std::size_t length = 512 * 8 + 100;
  auto feedback = feedback_of("measured", length);
  for (std::uint64_t step = 0; step < 200; ++step) ASSERT_TRUE(feedback.compress(normal_vector(length, step), step).ok());
  const double at_200 = feedback.residual_norm();
  for (std::uint64_t step = 200; step < 400; ++step) ASSERT_TRUE(feedback.compress(normal_vector(length, step), step).ok());
  EXPECT_LT(feedback.residual_norm(), 1.3 * at_200);
}

TEST(Measured, HostileBlobsAreHarmless) {
  for (const char* spec : {"measured", "measured block=256 bits=1 measurements=0.1", "measured block=1024 bits=4 measurements=1 keep=1"}) {
    SCOPED_TRACE(spec);
    for (const std::size_t length : {20UL, 700UL}) {
      expect_hostile_values_harmless(compressor_of(spec, length)->compress(normal_vector(length, 2), 0), length);
    }
  }
}

TEST(Measured, RefusesOptions) {
  for (const char* spec :
       {"measured block=128", "measured block=500", "measured bits=0", "measured bits=5", "measured keep=0.5", "measured x=1"}) {
    const auto made = try_compressor(spec);
    ASSERT_FALSE(made.ok()) << spec;
    EXPECT_EQ(made.error().code, Errc::bad_config);
  }
}

}  // namespace
}  // namespace hourglass::compress::testing
