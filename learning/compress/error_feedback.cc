// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/error_feedback.h"

#include <cmath>
#include <utility>

#include "base/check.h"
#include "learning/compress/f32.h"
#include "learning/compress/feedback.h"
#include "learning/compress/kernels.h"
#include "learning/compress/plan.h"

namespace hourglass::compress {
namespace {

constexpr std::string_view kSmallSpec = "dense | bf16";
constexpr std::string_view kMemoryDefault = "feedback";
constexpr double kRatioDefault = 0.01;

Status covers(std::span<const Segment> segments, std::size_t group_size) {
  std::size_t end = 0;
  for (const Segment& segment : segments) {
    if (segment.offset != end || segment.length > group_size - end) {
      return {Errc::bad_config, "segments must cover their group of " + std::to_string(group_size) + " in order; one of " +
                                    std::to_string(segment.length) + " stands at " + std::to_string(segment.offset)};
    }
    end += segment.length;
  }
  if (end == group_size) return {};
  return {Errc::bad_config, "segments cover " + std::to_string(end) + " of their group of " + std::to_string(group_size)};
}

Result<std::unique_ptr<Memory>> make_memory(const Plan& plan, std::size_t group_size) {
  return plan.memory ? plan.memory->row->make_memory(plan.memory->spec, group_size) : make_feedback({}, group_size);
}

Result<std::unique_ptr<RatioPolicy>> make_policy(const Plan& plan, std::span<const Shape> shapes) {
  if (!plan.ratio) return std::unique_ptr<RatioPolicy>();
  const Result<double> ratio = plan.selector->spec.number("ratio", kRatioDefault, kRatioLeast, 1.0);
  if (!ratio.ok()) return ratio.error();
  return plan.ratio->row->make_ratio_policy(plan.ratio->spec, *ratio, shapes);
}

}  // namespace

Result<ErrorFeedback> ErrorFeedback::make(std::string_view spec, std::vector<Segment> segments, std::size_t group_size) {
  const Result<bool> lossless = is_lossless(spec);
  if (!lossless.ok()) return lossless.error();
  if (Status whole = covers(segments, group_size); !whole.ok()) return whole.error();
  const Plan plan = plan_of(spec).value();
  const Plan small_plan = plan_of(kSmallSpec).value();
  ErrorFeedback made;
  made.reach_.lossless = *lossless;
  made.group_size_ = group_size;
  const bool sparse = !plan.selector || plan.selector->spec.name != "dense";
  std::vector<Shape> shapes;
  for (const Segment& segment : segments) {
    const bool plain = segment.small && sparse;
    Result<std::unique_ptr<Compressor>> compressor = make_compressor(plain ? small_plan : plan, segment.shape());
    if (!compressor.ok()) return compressor.error();
    if (!plain) {
      made.governed_.push_back(made.ranges_.size());
      shapes.push_back(segment.shape());
    }
    made.observes_ = made.observes_ || (*compressor)->observes();
    made.reach_.keeps_range = made.reach_.keeps_range && (*compressor)->keeps_range();
    made.compressors_.push_back(std::move(compressor).value());
    made.ranges_.push_back({segment.offset, segment.length, plain});
  }
  Result<std::unique_ptr<Memory>> memory = make_memory(plan, group_size);
  if (!memory.ok()) return memory.error();
  Result<std::unique_ptr<RatioPolicy>> policy = make_policy(plan, shapes);
  if (!policy.ok()) return policy.error();
  made.memory_ = std::move(memory).value();
  made.memory_->serve(made.reach_);
  made.memory_spec_ = plan.memory ? to_string({plan.memory->spec}) : std::string(kMemoryDefault);
  made.policy_ = std::move(policy).value();
  made.ratios_.assign(shapes.size(), 1.0);
  made.segments_ = std::move(segments);
  return made;
}

void ErrorFeedback::set_ratios(std::uint64_t step, std::vector<Addends>& addends) {
  std::vector<std::span<const float>> sums;
  if (policy_->looks()) {
    for (const std::size_t i : governed_) {
      Addends& each = addends[i];
      if (!each.b.empty()) {
        kernels().add(each.a.data(), each.b.data(), each.sum.data(), each.sum.size());
        each = {each.sum, {}, each.sum};
      }
      sums.push_back(each.a);
    }
  }
  policy_->choose(sums, step, ratios_);
  for (std::size_t i = 0; i < governed_.size(); ++i) compressors_[governed_[i]]->set_ratio(ratios_[i]);
}

Result<std::vector<GradientBlock>> ErrorFeedback::compress(std::span<const float> delta, std::uint64_t step) {
  HG_CHECK(delta.size() == group_size_, "error feedback needs the whole group");
  if (Status fits = memory_->take(delta); !fits.ok()) return fits.error();
  std::vector<Addends> addends;
  addends.reserve(ranges_.size());
  for (const Range& range : ranges_) addends.push_back(memory_->addends(range));
  if (policy_) set_ratios(step, addends);
  std::vector<GradientBlock> blocks;
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    const Addends& each = addends[i];
    GradientBlock block;
    bool silent = false;
    if (each.b.empty()) {
      silent = !has_nonzero(each.a);
      if (!silent) block = compressors_[i]->compress(each.a, step);
    } else {
      block = compressors_[i]->compress_sum(each.a, each.b, each.sum, step).value();  // the memory knows that the sum is finite
      silent = !has_nonzero(each.sum);
    }
    if (silent) {
      memory_->sent(ranges_[i], nullptr);
      continue;
    }
    block.offset = ranges_[i].offset;
    memory_->sent(ranges_[i], &block);
    blocks.push_back(std::move(block));
  }
  memory_->finish();
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

Status ErrorFeedback::restore(std::span<const GradientBlock> blocks) { return memory_->restore(blocks); }

std::vector<GradientBlock> ErrorFeedback::flush() {
  std::vector<GradientBlock> blocks;
  const std::span<const float> held = memory_->held();
  if (held.empty()) return blocks;
  for (const Range& range : ranges_) {
    const auto part = range.of(held);
    if (!has_nonzero(part)) continue;
    GradientBlock block;
    block.offset = range.offset;
    block.length = block.count = range.length;
    f32_coder().encode(part, 0, block);
    blocks.push_back(std::move(block));
  }
  memory_->flushed();
  return blocks;
}

Status ErrorFeedback::change(std::string_view spec) {
  Result<ErrorFeedback> next = make(spec, segments_, group_size_);
  if (!next.ok()) return next.error();
  if (next->memory_spec_ == memory_spec_) {
    next->memory_ = std::move(memory_);
    next->memory_->serve(next->reach_);
  } else {
    if (!memory_->releases()) return {Errc::bad_config, "memory '" + memory_spec_ + "' is tied to its receiver's state and has to stay"};
    if (Status kept = next->memory_->adopt(memory_->held()); !kept.ok()) return kept;
  }
  *this = std::move(next).value();
  return {};
}

double ErrorFeedback::residual_norm() const { return std::sqrt(kernels().sum_of_squares(residual().data(), residual().size())); }

}  // namespace hourglass::compress
