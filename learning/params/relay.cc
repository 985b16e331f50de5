// SPDX-License-Identifier: Apache-2.0
#include "learning/params/relay.h"

#include <algorithm>

namespace hourglass::params {

Relay::Relay(std::vector<float> initial, MergeNode merge, bool lossless)
    : copy_(std::move(initial)), merge_(std::move(merge)), lossless_(lossless) {}

bool Relay::take(const std::vector<GradientBlock>& blocks, bool flush) { return merge_.add(blocks, !flush).ok(); }

Result<std::vector<VersionDelta>> Relay::deltas_since(std::uint64_t from) const {
  if (from == version()) return std::vector<VersionDelta>();
  if (from == ambiguous_) return {Errc::too_stale, "version " + std::to_string(from) + " came twice"};
  return ring_.since(from, copy_.values());
}

Result<std::vector<GradientBlock>> Relay::push(std::uint64_t clock, bool flush, bool /*flush_residual*/) {
  // A worker may keep its residual to itself; what is held here was taken over from others.
  std::vector<GradientBlock> blocks = flush ? merge_.flush() : merge_.take(clock);
  unsettled_.push_back({clock, blocks});
  return blocks;
}

void Relay::settle(std::uint64_t clock, Verdict verdict) {
  const auto found = std::find_if(unsettled_.begin(), unsettled_.end(), [&](const Forwarded& f) { return f.clock == clock; });
  if (found == unsettled_.end()) return;
  if (verdict != Verdict::applied) merge_.restore(found->blocks);
  unsettled_.erase(found);
}

Inheritance Relay::inherit(Relay&& earlier, const std::optional<PushMarks>& marks) {
  Inheritance out;
  merge_.restore(earlier.merge_.flush());
  for (const Forwarded& push : earlier.unsettled_) {
    if (!marks) {
      ++out.lost;
    } else if (!marks->applied(push.clock)) {
      merge_.restore(push.blocks);
      ++out.returned;
    }
  }
  return out;
}

Status Relay::absorb(const ParameterUpdate& update) {
  std::uint64_t from = version();
  const Result<Taken> taken = copy_.absorb(update);
  if (!taken.ok()) return taken.error();
  if (*taken == Taken::values) replaced(from);
  if (*taken != Taken::deltas) return {};
  for (const VersionDelta& delta : update.deltas) {
    ring_.push(from, delta);
    from = delta.to;
  }
  return {};
}

Status Relay::absorb(std::span<const float> values, std::uint64_t version, std::uint64_t /*applied_clock*/) {
  const std::uint64_t before = this->version();
  const Result<Taken> taken = copy_.absorb(values, version);
  if (!taken.ok()) return taken.error();
  if (*taken == Taken::values) replaced(before);
  return {};
}

void Relay::replaced(std::uint64_t before) {
  ring_.clear();
  if (before == version()) ambiguous_ = before;
}

}  // namespace hourglass::params
