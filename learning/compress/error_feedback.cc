// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/error_feedback.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "base/spec.h"
#include "learning/compress/f32.h"
#include "learning/compress/kernels.h"

namespace hourglass::compress {
namespace {

constexpr std::string_view kSmallSpec = "dense | bf16";

bool has_nonzero(std::span<const float> values) {
  return std::any_of(values.begin(), values.end(), [](float value) { return value != 0; });
}

}  // namespace

Result<ErrorFeedback> ErrorFeedback::make(std::string_view spec, std::vector<Segment> segments, std::size_t group_size) {
  const Result<bool> lossless = is_lossless(spec);
  if (!lossless.ok()) return lossless.error();
  ErrorFeedback made;
  made.lossless_ = *lossless;
  made.group_size_ = group_size;
  const bool sparse = parse_spec(spec)->front().name != "dense";
  std::size_t end = 0;
  for (const Segment& segment : segments) {
    if (segment.offset != end || segment.length > group_size - end) {
      return {Errc::bad_config, "segments must cover their group of " + std::to_string(group_size) + " in order; one of " +
                                    std::to_string(segment.length) + " stands at " + std::to_string(segment.offset)};
    }
    end += segment.length;
    Result<std::unique_ptr<Compressor>> compressor = make_compressor(segment.small && sparse ? kSmallSpec : spec);
    if (!compressor.ok()) return compressor.error();
    made.compressors_.push_back(std::move(compressor).value());
  }
  if (end != group_size) {
    return {Errc::bad_config, "segments cover " + std::to_string(end) + " of their group of " + std::to_string(group_size)};
  }
  made.segments_ = std::move(segments);
  if (!made.lossless_) {
    made.residual_.assign(group_size, 0.0F);
    made.compensated_.assign(group_size, 0.0F);
  }
  return made;
}

Result<std::vector<GradientBlock>> ErrorFeedback::compress(std::span<const float> delta, std::uint64_t step) {
  HG_CHECK(delta.size() == group_size_, "error feedback needs the whole group");
  const bool compensate = !residual_.empty();
  if (!compensate && !kernels().finite(delta.data(), delta.size())) return {Errc::bad_data, "the update to be sent has a non-finite value"};
  if (compensate) compensated_.resize(group_size_);
  std::vector<GradientBlock> blocks;
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const Segment& segment = segments_[i];
    const auto part = delta.subspan(segment.offset, segment.length);
    GradientBlock block;
    if (compensate) {
      const auto sum = std::span<float>(compensated_).subspan(segment.offset, segment.length);
      Result<GradientBlock> packed =
          compressors_[i]->compress_sum(part, std::span<const float>(residual_).subspan(segment.offset, segment.length), sum, step);
      if (!packed.ok()) return packed.error();
      if (!has_nonzero(sum)) continue;
      block = std::move(packed).value();
    } else {
      if (!has_nonzero(part)) continue;
      block = compressors_[i]->compress(part, step);
    }
    block.offset = segment.offset;
    blocks.push_back(std::move(block));
  }
  if (lossless_) {
    residual_.clear();
    return blocks;
  }
  for (const GradientBlock& block : blocks) {
    const Status subtracted = accumulate(block, compensated_, -1.0F);
    HG_CHECK(subtracted.ok(), "a block of our own must decode");
  }
  residual_.swap(compensated_);
  return blocks;
}

Status ErrorFeedback::restore(std::span<const GradientBlock> blocks) {
  compensated_.assign(group_size_, 0.0F);
  if (!residual_.empty()) compensated_ = residual_;
  for (const GradientBlock& block : blocks) {
    if (Status added = accumulate(block, compensated_); !added.ok()) return added;
  }
  if (!kernels().finite(compensated_.data(), compensated_.size())) return {Errc::bad_data, "what was taken back does not fit a float"};
  residual_.swap(compensated_);
  return {};
}

std::vector<GradientBlock> ErrorFeedback::flush() {
  std::vector<GradientBlock> blocks;
  if (residual_.empty()) return blocks;
  for (const Segment& segment : segments_) {
    const auto part = std::span<const float>(residual_).subspan(segment.offset, segment.length);
    if (!has_nonzero(part)) continue;
    GradientBlock block;
    block.offset = segment.offset;
    block.length = segment.length;
    block.count = segment.length;
    f32_coder().encode(part, block);
    blocks.push_back(std::move(block));
  }
  if (lossless_) {
    residual_.clear();
  } else {
    std::fill(residual_.begin(), residual_.end(), 0.0F);
  }
  return blocks;
}

double ErrorFeedback::residual_norm() const { return std::sqrt(kernels().sum_of_squares(residual_.data(), residual_.size())); }

}  // namespace hourglass::compress
