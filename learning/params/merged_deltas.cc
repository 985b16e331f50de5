// SPDX-License-Identifier: Apache-2.0
#include "learning/params/merged_deltas.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"
#include "learning/compress/compressor.h"

namespace hourglass::params {
namespace {

using Range = std::pair<std::uint64_t, std::uint64_t>;  ///< offset, length

/// What a chain does to one range.
struct Changes {
  std::vector<const GradientBlock*> blocks;
  std::size_t bytes = 0;
  std::size_t most_entries = 0;              ///< of one block; the union has no fewer
  std::optional<GradientBlock> replacement;  ///< of all blocks
};
using ChangesByRange = std::map<Range, Changes>;

std::size_t block_bytes(const GradientBlock& block) {
  constexpr std::size_t kFields = 32;
  return block.indices.size() + block.values.size() + kFields;
}

ChangesByRange changes_of(const std::vector<const VersionDelta*>& chain) {
  ChangesByRange out;
  for (const VersionDelta* delta : chain) {
    for (const auto* blocks : {&delta->blocks, &delta->replaced}) {
      for (const GradientBlock& block : *blocks) {
        Changes& changes = out[{block.offset, block.length}];
        changes.blocks.push_back(&block);
        changes.bytes += block_bytes(block);
        changes.most_entries = std::max<std::size_t>(changes.most_entries, block.count);
      }
    }
  }
  return out;
}

/// Values that replace one range would undo what is added to another on top of it. A compressor's ranges never overlap.
bool disjoint(const ChangesByRange& ranges) {
  std::uint64_t end = 0;
  for (const auto& [range, changes] : ranges) {
    if (range.first < end) return false;
    end = range.first + range.second;
  }
  return true;
}

std::vector<std::uint32_t> union_of(const Changes& changes, const Range& range, std::size_t group_size) {
  std::vector<bool> changed(range.second);
  compress::Entries entries;
  for (const GradientBlock* block : changes.blocks) {
    const Status status = compress::entries_of(*block, group_size, entries);
    HG_CHECK(status.ok(), "blocks of the stream are valid");
    for (const std::uint32_t index : entries.indices) changed[index] = true;
  }
  std::vector<std::uint32_t> out;
  for (std::size_t i = 0; i < changed.size(); ++i) {
    if (changed[i]) out.push_back(static_cast<std::uint32_t>(i));
  }
  return out;
}

void replace_where_smaller(ChangesByRange& ranges, std::span<const float> newest) {
  for (auto& [range, changes] : ranges) {
    if (changes.blocks.size() < 2 || changes.most_entries * sizeof(float) >= changes.bytes) continue;
    const std::span<const float> values = newest.subspan(range.first, range.second);
    GradientBlock block = compress::block_of_values(values, union_of(changes, range, newest.size()));
    if (block_bytes(block) >= changes.bytes) continue;
    block.offset = range.first;
    changes.bytes = block_bytes(block);
    changes.replacement = std::move(block);
  }
}

}  // namespace

std::optional<std::vector<VersionDelta>> merged(const std::vector<const VersionDelta*>& chain, std::span<const float> newest) {
  ChangesByRange ranges = changes_of(chain);
  if (chain.size() > 1 && disjoint(ranges)) replace_where_smaller(ranges, newest);
  std::size_t bytes = 0;
  for (const auto& [range, changes] : ranges) bytes += changes.bytes;
  if (bytes >= newest.size_bytes()) return std::nullopt;

  std::vector<VersionDelta> out;
  const auto stays = [&](const GradientBlock& block) { return !ranges.at({block.offset, block.length}).replacement; };
  for (const VersionDelta* delta : chain) {
    VersionDelta& left = out.emplace_back();
    left.to = delta->to;
    std::copy_if(delta->blocks.begin(), delta->blocks.end(), std::back_inserter(left.blocks), stays);
    std::copy_if(delta->replaced.begin(), delta->replaced.end(), std::back_inserter(left.replaced), stays);
  }
  for (auto& [range, changes] : ranges) {
    if (changes.replacement) out.back().replaced.push_back(std::move(*changes.replacement));
  }
  return out;
}

}  // namespace hourglass::params
