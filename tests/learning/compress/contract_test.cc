// SPDX-License-Identifier: Apache-2.0
// What every compressor that the registry can compose must do, over the vectors that broke other people's.
#include <gtest/gtest.h>

#include "base/spec.h"
#include "learning/compress/error_feedback.h"
#include "tests/learning/compress/vectors.h"

namespace hourglass::compress::testing {
namespace {

class CompressorContract : public ::testing::TestWithParam<std::string> {
 protected:
  static std::unique_ptr<Compressor> make(std::size_t length) { return compressor_of(GetParam(), length); }
  static Promise promise() { return promise_of(GetParam()); }
  static bool dense() { return promise().dense; }
  static bool exact_values() { return promise().exact_values; }
  static double ratio() { return *parse_spec(GetParam())->front().number("ratio", 1.0, 0, 1); }
};

TEST_P(CompressorContract, BlockDescribesItselfWithinBounds) {
  for (const auto& [name, values] : hard_vectors()) {
    SCOPED_TRACE(name);
    const GradientBlock block = make(values.size())->compress(values, 0);
    EXPECT_EQ(block.offset, 0U);
    EXPECT_EQ(block.length, values.size());
    ASSERT_TRUE(validate(block, values.size()).ok()) << validate(block, values.size()).error().text;
    if (block.index_codec == IndexCodec::none) {
      EXPECT_EQ(block.count, values.size());
    }
    if (!promise().traits.counts) continue;
    const auto nonzero = static_cast<std::size_t>(std::count_if(values.begin(), values.end(), [](float value) { return value != 0; }));
    const auto k = static_cast<std::size_t>(std::max(1.0, std::ceil(ratio() * static_cast<double>(values.size()) * (1 - 1e-12))));
    EXPECT_EQ(block.count, std::min(nonzero, k));
  }
}

TEST_P(CompressorContract, SameInputSameBlock) {
  for (const auto& [name, values] : hard_vectors()) {
    SCOPED_TRACE(name);
    auto used = make(values.size());
    const GradientBlock first = used->compress(values, 0);
    EXPECT_TRUE(equal(first, make(values.size())->compress(values, 0)));
    if (promise().traits.remembers) continue;
    EXPECT_TRUE(equal(first, used->compress(values, 0)));
    used->compress(normal_vector(values.size(), 99), 1);  // what it remembers must not matter
    EXPECT_TRUE(equal(first, used->compress(values, 0)));
  }
}

TEST_P(CompressorContract, C7_DecodesFiniteWithSignAndZeroKept) {
  for (const auto& [name, values] : hard_vectors()) {
    SCOPED_TRACE(name);
    const auto out = decoded(make(values.size())->compress(values, 0), values.size());
    const Traits traits = promise().traits;
    bool something = false;
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_TRUE(std::isfinite(out[i]));
      something = something || out[i] != 0;
      if (values[i] != 0 && out[i] != 0 && traits.keeps_sign) {
        ASSERT_EQ(std::signbit(values[i]), std::signbit(out[i]));
      }
      if (values[i] == 0 && traits.keeps_zero) {
        ASSERT_EQ(out[i], 0);
      }
      if (exact_values() && (dense() || out[i] != 0)) {
        ASSERT_EQ(out[i], values[i]);
      }
    }
    const bool has_content = std::any_of(values.begin(), values.end(), [](float value) { return std::abs(value) > FLT_MIN; });
    EXPECT_TRUE(something || !has_content || !traits.always_sends);
  }
}

TEST_P(CompressorContract, C8_AllZeroCostsNoBytesBeyondTheHeader) {
  const std::vector<float> zeros(1000, 0.0F);
  const GradientBlock block = make(zeros.size())->compress(zeros, 0);
  if (!dense()) {
    EXPECT_EQ(block.count, 0U);
    EXPECT_EQ(payload(block), 0U);
  }
  auto feedback = ErrorFeedback::make(GetParam(), {{0, zeros.size(), false}}, zeros.size());
  ASSERT_TRUE(feedback.ok());
  const auto blocks = feedback->compress(zeros, 0);
  ASSERT_TRUE(blocks.ok());
  EXPECT_TRUE(blocks->empty());
}

TEST_P(CompressorContract, T01_SentPlusResidualIsWhatWasThere) {
  for (const auto& [name, values] : hard_vectors()) {
    SCOPED_TRACE(name);
    auto feedback = ErrorFeedback::make(GetParam(), {{0, values.size(), false}}, values.size());
    ASSERT_TRUE(feedback.ok());
    if (!make(values.size())->keeps_range() && std::any_of(values.begin(), values.end(), [](float v) { return std::abs(v) >= 1e30F; })) {
      EXPECT_FALSE(feedback->compress(values, 0).ok());  // what is decoded, or left of it, might not be finite
      continue;
    }
    std::vector<float> before(values.size(), 0.0F);
    for (std::uint64_t step = 0; step < 3; ++step) {
      const std::vector<float> delta = step == 0 ? values : normal_vector(values.size(), 40 + step);
      const auto blocks = feedback->compress(delta, step);
      ASSERT_TRUE(blocks.ok());
      std::vector<float> sent(values.size(), 0.0F);
      for (const auto& block : *blocks) ASSERT_TRUE(accumulate(block, sent).ok());
      std::vector<float> after(feedback->residual().begin(), feedback->residual().end());
      after.resize(values.size());
      for (std::size_t i = 0; i < values.size(); ++i) {
        const float p = delta[i] + before[i];
        ASSERT_EQ(after[i], p - sent[i]) << i;
        if (exact_values()) {
          ASSERT_EQ(after[i] + sent[i], p) << i;
        }
      }
      before = after;
    }
  }
}

TEST_P(CompressorContract, CompressSumIsCompressOfTheSum) {
  for (const auto& [name, values] : hard_vectors()) {
    SCOPED_TRACE(name);
    const auto other = normal_vector(values.size(), 77);
    std::vector<float> sum(values.size());
    auto compressor = make(values.size());
    const int rounds = promise().traits.remembers ? 1 : 2;
    for (int round = 0; round < rounds; ++round) {  // the second has a guess to start from
      std::vector<float> expected(values.size());
      for (std::size_t i = 0; i < values.size(); ++i) expected[i] = values[i] + other[i];
      const auto block = compressor->compress_sum(values, other, sum, 0);
      ASSERT_TRUE(block.ok());
      EXPECT_EQ(sum, expected);
      EXPECT_TRUE(equal(*block, make(expected.size())->compress(expected, 0)));
    }
  }
}

TEST_P(CompressorContract, C9_NonFiniteIsRefusedAndChangesNothing) {
  const std::size_t length = 20000;
  const auto values = normal_vector(length, 9);
  auto feedback = ErrorFeedback::make(GetParam(), {{0, 9000, false}, {9000, length - 9000, false}}, length);
  auto twin = ErrorFeedback::make(GetParam(), {{0, 9000, false}, {9000, length - 9000, false}}, length);
  ASSERT_TRUE(feedback.ok() && twin.ok());
  for (std::uint64_t step = 0; step < 2; ++step) {
    for (const float bad : {std::nanf(""), HUGE_VALF, -HUGE_VALF}) {
      for (const std::size_t at : {std::size_t{0}, length / 2, length - 1}) {
        auto poisoned = values;
        poisoned[at] = bad;
        const std::vector<float> before(feedback->residual().begin(), feedback->residual().end());
        const auto refused = feedback->compress(poisoned, step);
        ASSERT_FALSE(refused.ok());
        EXPECT_EQ(refused.error().code, Errc::bad_data);
        EXPECT_EQ(before, std::vector<float>(feedback->residual().begin(), feedback->residual().end()));
      }
    }
    const auto blocks = feedback->compress(values, step);
    const auto expected = twin->compress(values, step);
    ASSERT_TRUE(blocks.ok() && expected.ok());
    ASSERT_EQ(blocks->size(), expected->size());
    for (std::size_t i = 0; i < blocks->size(); ++i) EXPECT_TRUE(equal((*blocks)[i], (*expected)[i]));
  }
}

/// Whatever a byte is changed to, the block is refused and the sum untouched, or it is accepted and decodes finite within its range.
void expect_safe(const GradientBlock& block, std::size_t group_size) {
  std::vector<float> sum(group_size, 0.5F);
  const bool valid = validate(block, group_size).ok();
  ASSERT_EQ(accumulate(block, sum).ok(), valid);
  for (std::size_t i = 0; i < group_size; ++i) {
    const bool inside = i >= block.offset && i - block.offset < block.length;
    ASSERT_TRUE(std::isfinite(sum[i]));
    if (!valid || !inside) {
      ASSERT_EQ(sum[i], 0.5F);
    }
  }
}

TEST_P(CompressorContract, TruncatedOrLengthenedBlobsAreRefused) {
  const std::size_t length = 3000;
  const GradientBlock good = make(length)->compress(normal_vector(length, 3), 0);
  for (Bytes GradientBlock::*blob : {&GradientBlock::indices, &GradientBlock::values}) {
    for (std::size_t size = 0; size < (good.*blob).size(); ++size) {
      GradientBlock bad = good;
      (bad.*blob).resize(size);
      ASSERT_FALSE(validate(bad, length).ok()) << size;
      if (size % 50 == 0) expect_safe(bad, length);
    }
    for (const std::size_t more : {1UL, 3UL, 8UL}) {
      for (const auto filler : {std::byte{0}, std::byte{0xff}}) {
        GradientBlock bad = good;
        (bad.*blob).insert((bad.*blob).end(), more, filler);
        ASSERT_FALSE(validate(bad, length).ok()) << more;
      }
    }
  }
}

TEST_P(CompressorContract, CorruptedBytesAreRefusedOrHarmless) {
  const std::size_t length = 3000;
  const GradientBlock good = make(length)->compress(normal_vector(length, 3), 0);
  Random random(11);
  for (Bytes GradientBlock::*blob : {&GradientBlock::indices, &GradientBlock::values}) {
    const std::size_t stride = 1 + (good.*blob).size() / 400;
    for (std::size_t at = 0; at < (good.*blob).size(); at += stride) {
      GradientBlock bad = good;
      (bad.*blob)[at] ^= static_cast<std::byte>(1 + random.below(255));
      expect_safe(bad, length);
    }
  }
  for (int round = 0; round < 100; ++round) {
    GradientBlock bad = good;
    bad.offset = random.below(3) == 0 ? random.next() >> random.below(64) : bad.offset;
    bad.length = random.below(3) == 0 ? random.next() >> random.below(64) : bad.length;
    bad.count = random.below(3) == 0 ? random.next() >> random.below(64) : bad.count;
    bad.rice_bits = random.below(3) == 0 ? static_cast<std::uint8_t>(random.next()) : bad.rice_bits;
    bad.index_codec = random.below(3) == 0 ? static_cast<IndexCodec>(random.below(9)) : bad.index_codec;
    bad.value_codec = random.below(3) == 0 ? static_cast<ValueCodec>(random.below(18)) : bad.value_codec;
    expect_safe(bad, length);
  }
}

TEST_P(CompressorContract, C5_LargestAtLastPosition) {
  if (!promise().traits.counts || ratio() == 1) return;  // others may choose it or not
  for (const std::size_t length : {70000UL, 5000000UL}) {
    std::vector<float> values(length);
    for (std::size_t i = 0; i < length; ++i) values[i] = 1e-3F * static_cast<float>(1 + i * 7919 % 1000);
    values.back() = -9.0F;
    const auto out = decoded(make(values.size())->compress(values, 0), length);
    EXPECT_LT(out.back(), exact_values() ? -8.9F : 0.0F);
    if (promise().traits.keeps_sign) {
      EXPECT_EQ(std::min_element(out.begin(), out.end()) - out.begin(), static_cast<std::ptrdiff_t>(length - 1));
    }
  }
}

TEST_P(CompressorContract, C23_AllNegativeSelectsTheLargestMagnitudes) {
  if (!promise().traits.counts || !promise().traits.keeps_zero || !promise().traits.always_sends) return;  // others may choose otherwise
  std::vector<float> values(8000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = -1.0F - static_cast<float>(i * 31 % 8000);
  const GradientBlock block = make(values.size())->compress(values, 0);
  const auto out = decoded(block, values.size());
  float least_sent = FLT_MAX;
  float most_kept = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    (out[i] != 0 ? least_sent : most_kept) = out[i] != 0 ? std::min(least_sent, -values[i]) : std::max(most_kept, -values[i]);
  }
  EXPECT_GT(least_sent, most_kept);
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string out;
  for (const char c : info.param) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      out += c;
    } else if (!out.empty() && out.back() != '_') {
      out += '_';
    }
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(Registry, CompressorContract, ::testing::ValuesIn(all_specs()), test_name);

}  // namespace
}  // namespace hourglass::compress::testing
