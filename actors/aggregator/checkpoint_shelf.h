// SPDX-License-Identifier: Apache-2.0
// The checkpoints of a run folder: the newest few, and the one of the best accuracy.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/aggregator/checkpoint.h"
#include "runtime/storage.h"

namespace hourglass {

class CheckpointShelf {
 public:
  /// `keep`: how many of the newest stay, one at least.
  explicit CheckpointShelf(std::uint32_t keep) : keep_(keep == 0 ? 1 : keep) {}

  struct Broken {
    std::string file;
    std::string cause;
  };
  struct Found {
    std::optional<Checkpoint> newest;  ///< that can be read
    std::vector<Broken> broken;        ///< newer ones that cannot
  };
  /// Looks at what is there. Errors: io.
  Result<Found> open(Storage& storage);
  /// Of the next checkpoint: above all that are there, the broken ones included.
  [[nodiscard]] std::uint64_t next_number() const { return next_; }
  /// Numbers up to this one are taken.
  void skip_to(std::uint64_t number) { next_ = std::max(next_, number + 1); }
  /// Keeps it, and removes those that are no longer wanted. Errors: io; then the others are still there.
  Status save(Storage& storage, const Checkpoint& checkpoint);
  /// Of the newest ones: segments of the journal below this are not kept for the best one's sake.
  [[nodiscard]] std::uint64_t oldest_of_newest() const;
  [[nodiscard]] std::optional<std::uint64_t> best() const;

 private:
  Status prune(Storage& storage);
  std::uint32_t keep_;
  std::uint64_t next_ = 1;
  std::map<std::uint64_t, std::optional<double>> kept_;  ///< good ones, with their accuracies
};

}  // namespace hourglass
