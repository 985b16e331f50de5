// SPDX-License-Identifier: Apache-2.0
#include "learning/params/merge_node.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "learning/compress/kernels.h"
#include "learning/compress/plan.h"

namespace hourglass::params {
namespace {

bool has_nonzero(std::span<const float> values) {
  return std::any_of(values.begin(), values.end(), [](float value) { return value != 0; });
}

double largest_magnitude(std::span<const float> values) { return compress::kernels().largest_magnitude(values.data(), values.size()); }

/// No value of a valid block can be larger.
double largest_magnitude(const GradientBlock& block, std::size_t group_size) {
  compress::Entries entries;
  const Status status = compress::entries_of(block, group_size, entries);
  HG_CHECK(status.ok(), "validated before");
  return largest_magnitude(entries.values);
}

GradientBlock dense_block(std::size_t offset, std::span<const float> values) {
  GradientBlock block;
  block.offset = offset;
  block.length = block.count = values.size();
  block.values = to_bytes(values);
  return block;
}

}  // namespace

Result<MergeNode> MergeNode::make(std::string_view spec, double keep, std::vector<compress::Segment> segments, std::size_t group_size) {
  if (!(keep >= kKeepMin && keep <= kKeepMax)) return {Errc::bad_config, "a tree node keeps 0.01 to 1024 times its children's entries"};
  Result<compress::Plan> plan = compress::plan_of(spec);
  if (!plan.ok()) return plan.error();
  const compress::Plan small_plan = compress::plan_of("dense | bf16").value();
  const bool sparse = plan->transform || plan->selector->spec.name != "dense";
  plan->memory = plan->ratio = std::nullopt;
  if (plan->selector && sparse) plan->selector = compress::plan_of("topk ratio=1").value().selector;
  MergeNode made;
  made.keep_ = keep;
  std::size_t end = 0;
  for (const compress::Segment& segment : segments) {
    if (segment.offset != end || segment.length > group_size - end) return {Errc::bad_config, "segments must cover their group in order"};
    end += segment.length;
    auto compressor = compress::make_compressor(segment.small && sparse ? small_plan : *plan, segment.shape());
    if (!compressor.ok()) return compressor.error();
    made.keeps_range_ = made.keeps_range_ && (*compressor)->keeps_range();
    made.compressors_.push_back(std::move(compressor).value());
  }
  if (end != group_size) return {Errc::bad_config, "segments must cover their group"};
  made.segments_ = std::move(segments);
  made.largest_.assign(made.segments_.size(), 0);
  made.residual_.assign(group_size, 0.0F);
  return made;
}

Status MergeNode::add(std::span<const GradientBlock> blocks, bool counts) {
  double added = 0;
  for (const GradientBlock& block : blocks) {
    if (Status status = compress::validate(block, residual_.size()); !status.ok()) return status;
    added += largest_magnitude(block, residual_.size());
  }
  if (bound_ + added >= kMagnitudeMax) bound_ = largest_magnitude(residual_);
  if (!(bound_ + added < kMagnitudeMax)) return {Errc::bad_data, "the sum of pushes would leave the range of a float"};
  bound_ += added;
  for (const GradientBlock& block : blocks) {
    const Status status = compress::accumulate(block, residual_);
    HG_CHECK(status.ok(), "validated above");
  }
  if (counts) note_entries(blocks);
  return {};
}

void MergeNode::note_entries(std::span<const GradientBlock> blocks) {
  std::vector<std::uint64_t> entries(segments_.size(), 0);  // of this push
  for (const GradientBlock& block : blocks) {
    auto segment = std::upper_bound(segments_.begin(), segments_.end(), block.offset,
                                    [](std::uint64_t offset, const compress::Segment& s) { return offset < s.offset + s.length; });
    for (; segment != segments_.end() && segment->offset < block.offset + block.length; ++segment) {
      entries[static_cast<std::size_t>(segment - segments_.begin())] += block.count;
    }
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    largest_[i] = std::max(largest_[i], std::min<std::uint64_t>(entries[i], segments_[i].length));
  }
}

std::vector<GradientBlock> MergeNode::take(std::uint64_t step) {
  std::vector<GradientBlock> blocks;
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const compress::Segment& segment = segments_[i];
    const auto held = std::span<float>(residual_).subspan(segment.offset, segment.length);
    const std::uint64_t largest = std::exchange(largest_[i], 0);
    if (largest == 0 || !has_nonzero(held)) continue;
    const double kept = std::min(std::ceil(keep_ * static_cast<double>(largest)), static_cast<double>(segment.length));
    compressors_[i]->set_ratio(kept == static_cast<double>(segment.length) ? 1.0 : (kept - 0.5) / static_cast<double>(segment.length));
    GradientBlock block = compressors_[i]->compress(held, step);
    block.offset = segment.offset;
    if (block.count == 0) continue;
    const Status subtracted = compress::accumulate(block, residual_, -1.0F);
    HG_CHECK(subtracted.ok(), "a block of our own must decode");
    blocks.push_back(std::move(block));
  }
  if (!keeps_range_) bound_ = largest_magnitude(residual_);
  return blocks;
}

void MergeNode::restore(std::span<const GradientBlock> blocks) {
  for (const GradientBlock& block : blocks) {
    const Status status = compress::accumulate(block, residual_);
    HG_CHECK(status.ok(), "our own blocks fit our own residual");
  }
  note_entries(blocks);  // they go out again with the next take()
  bound_ = largest_magnitude(residual_);
}

std::vector<GradientBlock> MergeNode::flush() {
  std::vector<GradientBlock> blocks;
  for (const compress::Segment& segment : segments_) {
    const auto held = std::span<const float>(residual_).subspan(segment.offset, segment.length);
    if (has_nonzero(held)) blocks.push_back(dense_block(segment.offset, held));
  }
  std::fill(residual_.begin(), residual_.end(), 0.0F);
  std::fill(largest_.begin(), largest_.end(), 0);
  bound_ = 0;
  return blocks;
}

double MergeNode::residual_norm() const { return std::sqrt(compress::kernels().sum_of_squares(residual_.data(), residual_.size())); }

bool MergeNode::empty() const { return !has_nonzero(residual_); }

}  // namespace hourglass::params
