// SPDX-License-Identifier: Apache-2.0
#include "learning/params/replica.h"

#include <algorithm>

namespace hourglass::params {

Replica::Replica(std::vector<float> initial, compress::ErrorFeedback memory)
    : published_(std::move(initial)),
      local_(published_.size(), 0.0F),
      working_(std::make_shared<std::vector<float>>(published_)),
      memory_(std::move(memory)) {}

Replica Replica::of_gradients(std::vector<float> initial, compress::ErrorFeedback memory, std::optional<compress::ErrorFeedback> warmup) {
  Replica made(std::move(initial), std::move(memory));
  made.warmup_ = std::move(warmup);
  made.gradients_ = true;
  return made;
}

std::vector<float>& Replica::writable() {
  if (working_.use_count() > 1) working_ = std::make_shared<std::vector<float>>(*working_);
  return *working_;
}

void Replica::step(std::span<const float> delta) {
  HG_CHECK(delta.size() == size(), "a step covers the group");
  local_used_ = true;
  for (std::size_t i = 0; i < delta.size(); ++i) local_[i] += delta[i];
  if (gradients_) return;
  std::vector<float>& working = writable();
  for (std::size_t i = 0; i < delta.size(); ++i) working[i] += delta[i];
}

Result<std::vector<GradientBlock>> Replica::push(std::uint64_t clock, bool flush, bool flush_residual) {
  std::vector<GradientBlock> blocks;
  if (local_used_) {
    auto compressed = memory().compress(local_, clock);
    std::fill(local_.begin(), local_.end(), 0.0F);
    local_used_ = false;
    if (!compressed.ok()) {
      rebuild();
      return compressed.error();
    }
    blocks = std::move(*compressed);
  }
  if (flush && flush_residual) {
    for (GradientBlock& block : memory_.flush()) blocks.push_back(std::move(block));
  }
  pending_.push_back({clock, false, blocks});
  if (!gradients_ && (!memory_.lossless() || flush)) rebuild();  // the part that was held back leaves the working copy
  return blocks;
}

void Replica::settle(std::uint64_t clock, Verdict verdict) {
  const auto found = std::find_if(pending_.begin(), pending_.end(), [&](const Pending& p) { return p.clock == clock; });
  if (found == pending_.end() || found->settled) return;
  if (verdict == Verdict::applied) {
    found->settled = true;
    return;
  }
  const Status status = memory().restore(found->blocks);
  HG_CHECK(status.ok(), "our own blocks fit our own residual");
  pending_.erase(found);
  rebuild();
}

std::size_t Replica::unsettled() const {
  return static_cast<std::size_t>(std::count_if(pending_.begin(), pending_.end(), [](const Pending& p) { return !p.settled; }));
}

void Replica::drop_contained(std::uint64_t applied_clock) {
  // A push without a verdict yet stays: were it rejected, its blocks must return to the residual.
  while (!pending_.empty() && pending_.front().clock < applied_clock && pending_.front().settled) pending_.pop_front();
}

void Replica::rebuild() {
  std::vector<float>& working = writable();
  std::copy(published_.begin(), published_.end(), working.begin());
  if (gradients_) return;
  for (const Pending& push : pending_) {
    for (const GradientBlock& block : push.blocks) {
      const Status status = compress::accumulate(block, working);
      HG_CHECK(status.ok(), "our own blocks are valid");
    }
  }
  if (!local_used_) return;
  for (std::size_t i = 0; i < working.size(); ++i) working[i] += local_[i];
}

Status Replica::absorb(const ParameterUpdate& update) {
  if (update.absolute) {
    if (update.deltas.size() != 1 || update.deltas[0].blocks.size() != 1) return {Errc::malformed, "an absolute update is one block"};
    const GradientBlock& block = update.deltas[0].blocks[0];
    if (block.offset != 0 || block.length != size()) return {Errc::malformed, "an absolute update covers the group"};
    if (update.deltas[0].to < version_) return {};  // late: newer values are here already
    const Status status = compress::assign(block, published_);
    if (!status.ok()) return status;
    version_ = update.deltas[0].to;
  } else {
    if (!update.deltas.empty() && update.deltas.back().to <= version_) return {};
    if (!update.deltas.empty() && update.from != version_) {
      return {Errc::too_stale, "the update starts at version " + std::to_string(update.from) + ", here is " + std::to_string(version_)};
    }
    std::uint64_t last = version_;
    for (const VersionDelta& delta : update.deltas) {
      if (delta.to <= last) return {Errc::malformed, "versions must rise"};
      last = delta.to;
      for (const GradientBlock& block : delta.blocks) {
        const Status status = compress::validate(block, size());
        if (!status.ok()) return status;
      }
    }
    for (const VersionDelta& delta : update.deltas) {
      for (const GradientBlock& block : delta.blocks) {
        const Status status = compress::accumulate(block, published_);
        HG_CHECK(status.ok(), "validated above");
      }
      memory_.observe(delta.blocks);
    }
    version_ = last;
  }
  drop_contained(update.applied_clock);
  rebuild();
  return {};
}

Status Replica::absorb(std::span<const float> values, std::uint64_t version, std::uint64_t applied_clock) {
  if (values.size() != size()) return {Errc::malformed, "a snapshot covers the group"};
  if (version < version_) return {};
  std::copy(values.begin(), values.end(), published_.begin());
  version_ = version;
  drop_contained(applied_clock);
  rebuild();
  return {};
}

}  // namespace hourglass::params
