// SPDX-License-Identifier: Apache-2.0
// Blocks that somebody has tampered with.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "learning/compress/error_feedback.h"
#include "tests/learning/compress/vectors.h"

namespace hourglass::compress::testing {

/// Every shorter and some longer blobs are refused; whatever a byte is changed to, the block is refused or decodes finite.
inline void expect_hostile_values_harmless(const GradientBlock& good, std::size_t group_size) {
  ASSERT_TRUE(validate(good, group_size).ok());
  const std::size_t stride = 1 + good.values.size() / 500;
  for (std::size_t size = 0; size < good.values.size(); size += size < 64 ? 1 : stride) {
    GradientBlock bad = good;
    bad.values.resize(size);
    ASSERT_FALSE(validate(bad, group_size).ok()) << size;
  }
  for (const std::size_t more : {1UL, 2UL, 4UL, 8UL}) {
    GradientBlock bad = good;
    bad.values.insert(bad.values.end(), more, std::byte{0});
    ASSERT_FALSE(validate(bad, group_size).ok()) << more;
  }
  Random random(3);
  for (std::size_t at = 0; at < good.values.size(); at += at < 64 ? 1 : stride) {
    for (int round = 0; round < (at < 64 ? 20 : 1); ++round) {
      GradientBlock bad = good;
      bad.values[at] = static_cast<std::byte>(random.below(256));
      std::vector<float> sum(group_size, 0.0F);
      const bool valid = validate(bad, group_size).ok();
      ASSERT_EQ(accumulate(bad, sum).ok(), valid);
      for (const float value : sum) ASSERT_TRUE(valid ? std::isfinite(value) : value == 0);
    }
  }
}

/// For forms that error feedback is no good with, what the contract suite expects without it.
inline void expect_hard_vectors_behave(const std::string& spec) {
  for (const auto& [name, values] : hard_vectors()) {
    SCOPED_TRACE(name);
    const GradientBlock block = compressor_of(spec, values.size())->compress(values, 5);
    const Status valid = validate(block, values.size());
    ASSERT_TRUE(valid.ok()) << valid.error().text;
    EXPECT_TRUE(equal(block, compressor_of(spec, values.size())->compress(values, 5)));
    bool something = false;
    for (const float value : decoded(block, values.size())) {
      ASSERT_TRUE(std::isfinite(value));
      something = something || value != 0;
    }
    const bool has_content = std::any_of(values.begin(), values.end(), [](float value) { return std::abs(value) > FLT_MIN; });
    EXPECT_TRUE(something || !has_content);
  }
}

inline ErrorFeedback feedback_of(std::string_view spec, std::size_t length, std::size_t columns = 0) {
  auto made = ErrorFeedback::make(spec, {{0, length, false, columns}}, length);
  HG_CHECK(made.ok(), made.ok() ? "" : made.error().text);
  return std::move(made).value();
}

inline double squared_error(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (static_cast<double>(a[i]) - b[i]) * (static_cast<double>(a[i]) - b[i]);
  return sum;
}
inline double energy(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * value;
  return sum;
}

}  // namespace hourglass::compress::testing
