// SPDX-License-Identifier: Apache-2.0
#include "learning/params/published.h"

#include <algorithm>

#include "base/check.h"
#include "learning/compress/compressor.h"
#include "learning/params/merged_deltas.h"

namespace hourglass::params {
VersionDelta whole(std::uint64_t version, std::span<const float> values) {
  VersionDelta out;
  out.to = version;
  GradientBlock block;
  block.length = block.count = values.size();
  block.values = to_bytes(values);
  out.blocks.push_back(std::move(block));
  return out;
}

void DeltaRing::push(std::uint64_t from, VersionDelta delta) {
  ring_.push_back({from, std::move(delta)});
  if (ring_.size() > kDeltasMax) ring_.pop_front();
}

Result<std::vector<VersionDelta>> DeltaRing::since(std::uint64_t from, std::span<const float> newest) const {
  const auto first = std::find_if(ring_.begin(), ring_.end(), [&](const Entry& entry) { return entry.from == from; });
  std::vector<const VersionDelta*> chain;
  for (auto entry = first; entry != ring_.end(); ++entry) chain.push_back(&entry->delta);
  if (chain.empty()) return {Errc::too_stale, "no chain of deltas from version " + std::to_string(from)};
  auto deltas = merged(chain, newest);
  if (!deltas) return {Errc::too_stale, "the values as a whole are smaller than the deltas from version " + std::to_string(from)};
  return std::move(*deltas);
}

Result<Taken> PublishedCopy::assign(const ParameterUpdate& update) {
  if (update.deltas.size() != 1 || update.deltas[0].blocks.size() != 1 || !update.deltas[0].replaced.empty())
    return {Errc::malformed, "an absolute update is one block"};
  const GradientBlock& block = update.deltas[0].blocks[0];
  if (block.offset != 0 || block.count != values_.size()) return {Errc::malformed, "an absolute update covers the group"};
  if (update.deltas[0].to < version_) return Taken::late;
  if (Status status = compress::assign(block, values_); !status.ok()) return status.error();
  version_ = update.deltas[0].to;
  return Taken::values;
}

Status PublishedCopy::check(const ParameterUpdate& update) const {
  if (update.from != version_) {
    return {Errc::too_stale, "the update starts at version " + std::to_string(update.from) + ", here is " + std::to_string(version_)};
  }
  std::uint64_t last = version_;
  for (const VersionDelta& delta : update.deltas) {
    if (delta.to <= last) return {Errc::malformed, "versions must rise"};
    last = delta.to;
    for (const GradientBlock& block : delta.blocks) {
      if (Status status = compress::validate(block, values_.size()); !status.ok()) return status;
    }
    for (const GradientBlock& block : delta.replaced) {
      if (Status status = compress::validate_values(block, values_.size()); !status.ok()) return status;
    }
  }
  return {};
}

Result<Taken> PublishedCopy::absorb(const ParameterUpdate& update) {
  if (update.absolute) return assign(update);
  if (update.deltas.empty()) return Taken::clocks;
  if (update.deltas.back().to <= version_) return Taken::late;
  if (Status good = check(update); !good.ok()) return good.error();
  for (const VersionDelta& delta : update.deltas) {
    for (const GradientBlock& block : delta.blocks) {
      const Status status = compress::accumulate(block, values_);
      HG_CHECK(status.ok(), "validated above");
    }
    for (const GradientBlock& block : delta.replaced) {
      const Status status = compress::assign(block, values_);
      HG_CHECK(status.ok(), "validated above");
    }
  }
  version_ = update.deltas.back().to;
  return Taken::deltas;
}

Result<Taken> PublishedCopy::absorb(std::span<const float> values, std::uint64_t version) {
  if (values.size() != values_.size()) return {Errc::malformed, "a snapshot covers the group"};
  if (version < version_) return Taken::late;
  std::copy(values.begin(), values.end(), values_.begin());
  version_ = version;
  return Taken::values;
}

}  // namespace hourglass::params
