// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/error_feedback.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "learning/compress/f32.h"
#include "learning/compress/kernels.h"
#include "learning/compress/plan.h"

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
  const Plan plan = plan_of(spec).value();
  const Plan small_plan = plan_of(kSmallSpec).value();
  ErrorFeedback made;
  made.lossless_ = *lossless;
  made.group_size_ = group_size;
  const bool sparse = !plan.selector || plan.selector->spec.name != "dense";
  std::size_t end = 0;
  for (const Segment& segment : segments) {
    if (segment.offset != end || segment.length > group_size - end) {
      return {Errc::bad_config, "segments must cover their group of " + std::to_string(group_size) + " in order; one of " +
                                    std::to_string(segment.length) + " stands at " + std::to_string(segment.offset)};
    }
    end += segment.length;
    Result<std::unique_ptr<Compressor>> compressor = make_compressor(segment.small && sparse ? small_plan : plan, segment.shape());
    if (!compressor.ok()) return compressor.error();
    made.observes_ = made.observes_ || (*compressor)->observes();
    made.keeps_range_ = made.keeps_range_ && (*compressor)->keeps_range();
    made.compressors_.push_back(std::move(compressor).value());
  }
  if (end != group_size) {
    return {Errc::bad_config, "segments cover " + std::to_string(end) + " of their group of " + std::to_string(group_size)};
  }
  made.segments_ = std::move(segments);
  if (!made.lossless_) made.residual_.assign(group_size, 0.0F);
  return made;
}

bool ErrorFeedback::sum_is_finite(std::span<const float> delta) {
  const float largest = kernels().largest_magnitude(delta.data(), delta.size());
  if (!std::isfinite(largest)) return false;
  // Without that promise a decoded value may reach the norm of what was encoded, and more.
  if (!keeps_range_) return residual_bound_ + largest < 1e30;
  if (residual_bound_ + largest >= FLT_MAX) residual_bound_ = kernels().largest_magnitude(residual_.data(), residual_.size());
  if (residual_bound_ + largest >= FLT_MAX) {
    for (std::size_t i = 0; i < residual_.size(); ++i) {
      if (!std::isfinite(delta[i] + residual_[i])) return false;
    }
  }
  // What stays of a sum is never larger than the largest sum: a decoded value has its sign and is within the range of the magnitudes sent.
  residual_bound_ += largest;
  return true;
}

Result<std::vector<GradientBlock>> ErrorFeedback::compress(std::span<const float> delta, std::uint64_t step) {
  HG_CHECK(delta.size() == group_size_, "error feedback needs the whole group");
  if (!sum_is_finite(delta)) return {Errc::bad_data, "the update to be sent, or its sum with the residual, has a non-finite value"};
  const bool compensate = !residual_.empty();
  std::vector<GradientBlock> blocks;
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const Segment& segment = segments_[i];
    const auto part = delta.subspan(segment.offset, segment.length);
    GradientBlock block;
    if (compensate) {
      const auto sum = std::span<float>(residual_).subspan(segment.offset, segment.length);
      block = compressors_[i]->compress_sum(part, sum, sum, step).value();  // in place; that the sum is finite is known
      block.offset = segment.offset;
      if (!has_nonzero(sum)) continue;
      const Status subtracted = accumulate(block, residual_, -1.0F);
      HG_CHECK(subtracted.ok(), "a block of our own must decode");
    } else {
      if (!has_nonzero(part)) continue;
      block = compressors_[i]->compress(part, step);
      block.offset = segment.offset;
    }
    blocks.push_back(std::move(block));
  }
  if (lossless_) {
    residual_.clear();
    residual_bound_ = 0;
  } else if (!keeps_range_) {
    residual_bound_ = kernels().largest_magnitude(residual_.data(), residual_.size());
  }
  return blocks;
}

void ErrorFeedback::observe(std::span<const GradientBlock> published) {
  if (!observes_) return;
  Entries all;
  Entries part;
  for (const GradientBlock& block : published) {
    if (!entries_of(block, group_size_, all).ok()) continue;
    std::size_t next = 0;
    for (std::size_t i = 0; i < segments_.size(); ++i) {
      const Segment& segment = segments_[i];
      part = {};
      for (; next < all.indices.size() && block.offset + all.indices[next] < segment.offset + segment.length; ++next) {
        if (block.offset + all.indices[next] < segment.offset) continue;
        part.indices.push_back(static_cast<std::uint32_t>(block.offset + all.indices[next] - segment.offset));
        part.values.push_back(all.values[next]);
      }
      if (!part.indices.empty()) compressors_[i]->observe(part);
    }
  }
}

void ErrorFeedback::take_seat(const Seat& seat) {
  for (const auto& compressor : compressors_) compressor->take_seat(seat);
}

Status ErrorFeedback::restore(std::span<const GradientBlock> blocks) {
  std::vector<float> restored = residual_;
  restored.resize(group_size_, 0.0F);
  for (const GradientBlock& block : blocks) {
    if (Status added = accumulate(block, restored); !added.ok()) return added;
  }
  const float largest = kernels().largest_magnitude(restored.data(), restored.size());
  if (!std::isfinite(largest)) return {Errc::bad_data, "what was taken back does not fit a float"};
  residual_ = std::move(restored);
  residual_bound_ = largest;
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
    f32_coder().encode(part, 0, block);
    blocks.push_back(std::move(block));
  }
  if (lossless_) {
    residual_.clear();
  } else {
    std::fill(residual_.begin(), residual_.end(), 0.0F);
  }
  residual_bound_ = 0;
  return blocks;
}

double ErrorFeedback::residual_norm() const { return std::sqrt(kernels().sum_of_squares(residual_.data(), residual_.size())); }

}  // namespace hourglass::compress
