// SPDX-License-Identifier: Apache-2.0
// Whole groups in tests: make, compress, add up.
#pragma once

#include "learning/compress/error_feedback.h"
#include "tests/learning/compress/vectors.h"

namespace hourglass::compress::testing {

inline ErrorFeedback group_of(std::string_view spec, std::vector<Segment> segments) {
  const std::size_t size = segments.empty() ? 0 : segments.back().offset + segments.back().length;
  auto made = ErrorFeedback::make(spec, std::move(segments), size);
  HG_CHECK(made.ok(), made.ok() ? "" : made.error().text);
  return std::move(made).value();
}
inline ErrorFeedback group_of(std::string_view spec, std::size_t size) { return group_of(spec, {{0, size, false}}); }

inline std::vector<GradientBlock> compressed(ErrorFeedback& feedback, const std::vector<float>& delta, std::uint64_t step = 0) {
  auto blocks = feedback.compress(delta, step);
  HG_CHECK(blocks.ok(), blocks.ok() ? "" : blocks.error().text);
  return std::move(blocks).value();
}

inline void add(const std::vector<GradientBlock>& blocks, std::vector<float>& sum) {
  for (const auto& block : blocks) HG_CHECK(accumulate(block, sum).ok(), "own block");
}

inline std::vector<float> sum_of(const std::vector<GradientBlock>& blocks, std::size_t size) {
  std::vector<float> sum(size, 0.0F);
  add(blocks, sum);
  return sum;
}

inline std::vector<float> residual_of(const ErrorFeedback& feedback) { return {feedback.residual().begin(), feedback.residual().end()}; }

/// Whole numbers, so that sums are exact.
inline std::vector<float> whole_vector(std::size_t length, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> out(length);
  for (float& value : out) value = static_cast<float>(random.below(2001)) - 1000.0F;
  return out;
}

inline std::string refusal_of(std::string_view spec) {
  const auto made = ErrorFeedback::make(spec, {}, 0);
  if (made.ok()) return "accepted";
  HG_CHECK(made.error().code == Errc::bad_config, "a spec is refused as bad_config");
  return made.error().text;
}

}  // namespace hourglass::compress::testing
