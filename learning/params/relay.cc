// SPDX-License-Identifier: Apache-2.0
#include "learning/params/relay.h"

#include <algorithm>

#include "base/check.h"

namespace hourglass::params {

Relay::Relay(std::vector<float> initial, MergeNode merge, bool lossless)
    : published_(std::move(initial)), merge_(std::move(merge)), lossless_(lossless) {}

bool Relay::take(const std::vector<GradientBlock>& blocks, bool flush) { return merge_.add(blocks, !flush).ok(); }

Result<std::vector<VersionDelta>> Relay::deltas_since(std::uint64_t from) const {
  std::vector<VersionDelta> out;
  if (from == version_) return out;
  std::size_t bytes = 0;
  for (auto entry = ring_.rbegin(); entry != ring_.rend(); ++entry) {
    bytes += entry->bytes;
    if (bytes >= published_.size() * sizeof(float)) break;
    out.push_back(entry->delta);
    if (entry->from == from) {
      std::reverse(out.begin(), out.end());
      return out;
    }
    if (entry->from < from) break;
  }
  return {Errc::too_stale, "no chain of deltas from version " + std::to_string(from)};
}

VersionDelta Relay::absolute() const {
  VersionDelta out;
  out.to = version_;
  GradientBlock block;
  block.length = block.count = published_.size();
  block.values = to_bytes(std::span<const float>(published_));
  out.blocks.push_back(std::move(block));
  return out;
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

Status Relay::absorb(const ParameterUpdate& update) {
  if (update.absolute) {
    if (update.deltas.size() != 1 || update.deltas[0].blocks.size() != 1) return {Errc::malformed, "an absolute update is one block"};
    const GradientBlock& block = update.deltas[0].blocks[0];
    if (block.offset != 0 || block.length != size()) return {Errc::malformed, "an absolute update covers the group"};
    if (update.deltas[0].to < version_) return {};  // late: newer values are here already
    if (Status status = compress::assign(block, published_); !status.ok()) return status;
    version_ = update.deltas[0].to;
    ring_.clear();
    return {};
  }
  if (update.deltas.empty() || update.deltas.back().to <= version_) return {};
  if (update.from != version_) {
    return {Errc::too_stale, "the update starts at version " + std::to_string(update.from) + ", here is " + std::to_string(version_)};
  }
  std::uint64_t last = version_;
  for (const VersionDelta& delta : update.deltas) {
    if (delta.to <= last) return {Errc::malformed, "versions must rise"};
    last = delta.to;
    for (const GradientBlock& block : delta.blocks) {
      if (Status status = compress::validate(block, size()); !status.ok()) return status;
    }
  }
  for (const VersionDelta& delta : update.deltas) {
    Passed entry{version_, delta, 0};
    for (const GradientBlock& block : delta.blocks) {
      const Status status = compress::accumulate(block, published_);
      HG_CHECK(status.ok(), "validated above");
      entry.bytes += block.indices.size() + block.values.size() + 32;
    }
    ring_.push_back(std::move(entry));
    if (ring_.size() > kDeltasMax) ring_.pop_front();
    version_ = delta.to;
  }
  return {};
}

Status Relay::absorb(std::span<const float> values, std::uint64_t version, std::uint64_t /*applied_clock*/) {
  if (values.size() != size()) return {Errc::malformed, "a snapshot covers the group"};
  if (version < version_) return {};
  std::copy(values.begin(), values.end(), published_.begin());
  version_ = version;
  ring_.clear();
  return {};
}

}  // namespace hourglass::params
