// SPDX-License-Identifier: Apache-2.0
// The aggregator's copy of the only FC worker's parameters, put together from chunks.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "messages/snapshot_chunk.h"

namespace hourglass {

class FcStateCollector {
 public:
  explicit FcStateCollector(std::size_t parameters) : parameters_(parameters) {}
  /// The whole state when this was its last chunk. Chunks come in order; where one is missing the rest is dropped and must be asked for
  /// again. Values that are not finite are refused: `refused()` counts them.
  std::optional<std::vector<float>> take(const SnapshotChunk& chunk);
  [[nodiscard]] std::uint64_t refused() const { return refused_; }

 private:
  std::size_t parameters_;
  std::uint64_t version_ = 0;
  std::vector<float> values_;
  std::uint64_t refused_ = 0;
};

}  // namespace hourglass
