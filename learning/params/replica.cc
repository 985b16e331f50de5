// SPDX-License-Identifier: Apache-2.0
#include "learning/params/replica.h"

#include <algorithm>

#include "base/mutant.h"
#include "learning/params/arithmetic.h"

namespace hourglass::params {

Replica::Replica(std::vector<float> initial, compress::ErrorFeedback memory)
    : copy_(std::move(initial)),
      local_(size(), 0.0F),
      working_(std::make_shared<std::vector<float>>(copy_.values())),
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
  show([&](Witness& w) { w.stepped(delta); });
  local_used_ = true;
  add(local_, delta);
  if (!gradients_) add(writable(), delta);
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
  show([&](Witness& w) { w.held(memory().residual()); });
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
  const Status status = mutant(Mutant::residual_not_restored) ? Status() : memory().restore(found->blocks);
  HG_CHECK(status.ok(), "our own blocks fit our own residual");
  pending_.erase(found);
  rebuild();
}

std::size_t Replica::unsettled() const {
  return static_cast<std::size_t>(std::count_if(pending_.begin(), pending_.end(), [](const Pending& p) { return !p.settled; }));
}

std::span<const GradientBlock> Replica::newest_push() const {
  return pending_.empty() ? std::span<const GradientBlock>() : std::span<const GradientBlock>(pending_.back().blocks);
}

Inheritance Replica::inherit(Replica&& earlier, const std::optional<PushMarks>& marks) {
  Inheritance out;
  for (const Pending& push : earlier.pending_) {
    if (!marks) {
      out.lost += push.settled ? 0 : 1;
    } else if (!marks->applied(push.clock)) {  // what was rejected and settled is not here any more
      const bool back = earlier.memory().restore(push.blocks).ok();
      ++(back ? out.returned : out.lost);
    }
  }
  if (const std::span<const float> held = earlier.memory().residual(); !held.empty()) {
    out.kept_residual = held.size() == size() && memory().adopt(held).ok();
  }
  return out;
}

void Replica::drop_contained(std::uint64_t applied_clock) {
  // A push without a verdict yet stays: were it rejected, its blocks must return to the residual.
  while (!pending_.empty() && pending_.front().clock < applied_clock && pending_.front().settled) pending_.pop_front();
}

void Replica::take_in() {
  if (!alpha_) return rebuild();
  std::vector<float>& working = writable();
  const std::vector<float>& published = copy_.values();
  const auto alpha = static_cast<float>(*alpha_);
  for (std::size_t i = 0; i < working.size(); ++i) {
    local_[i] = alpha * (working[i] - published[i]);
    working[i] = published[i] + local_[i];
  }
  local_used_ = alpha > 0;
}

void Replica::rebuild() {
  std::vector<float>& working = writable();
  std::copy(copy_.values().begin(), copy_.values().end(), working.begin());
  if (gradients_) return;
  for (const Pending& push : pending_) {
    for (const GradientBlock& block : push.blocks) {
      const Status status = compress::accumulate(block, working);
      HG_CHECK(status.ok(), "our own blocks are valid");
    }
  }
  if (local_used_) add(working, local_);
}

Status Replica::absorb(const ParameterUpdate& update) {
  const Result<Taken> taken = copy_.absorb(update);
  if (!taken.ok()) return taken.error();
  if (*taken == Taken::late) return {};
  if (*taken == Taken::deltas) {
    for (const VersionDelta& delta : update.deltas) {
      memory_.observe(delta.blocks);
      memory_.observe(delta.replaced);
    }
  }
  drop_contained(update.applied_clock);
  take_in();
  return {};
}

Status Replica::absorb(std::span<const float> values, std::uint64_t version, std::uint64_t applied_clock) {
  const Result<Taken> taken = copy_.absorb(values, version);
  if (!taken.ok()) return taken.error();
  if (*taken == Taken::late) return {};
  drop_contained(applied_clock);
  take_in();
  return {};
}

}  // namespace hourglass::params
