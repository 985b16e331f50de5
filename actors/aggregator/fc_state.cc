// SPDX-License-Identifier: Apache-2.0
#include "actors/aggregator/fc_state.h"

#include <algorithm>
#include <cmath>

namespace hourglass {

std::optional<std::vector<float>> FcStateCollector::take(const SnapshotChunk& chunk) {
  const auto values = from_bytes<float>(chunk.values);
  if (chunk.total != parameters_ || chunk.values.size() % sizeof(float) != 0 || chunk.offset + values.size() > parameters_)
    return std::nullopt;
  if (chunk.offset == 0) {
    version_ = chunk.version;
    values_.clear();
  }
  if (chunk.version != version_ || chunk.offset != values_.size()) return std::nullopt;
  if (!std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); })) {
    ++refused_;
    return std::nullopt;
  }
  values_.insert(values_.end(), values.begin(), values.end());
  if (values_.size() < parameters_) return std::nullopt;
  std::vector<float> complete;
  complete.swap(values_);
  return complete;
}

}  // namespace hourglass
