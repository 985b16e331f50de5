// SPDX-License-Identifier: Apache-2.0
// The checkpoints of a run folder, for looking at and for downloading. They may come and go at any time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "services/dashboard/http_server.h"

namespace hourglass {

/// What a checkpoint says about itself.
struct CheckpointNote {
  std::uint32_t generation = 0;
  double seconds = 0;  ///< of training
  std::uint64_t samples_done = 0, samples_total = 0, version = 0;
  double accuracy = -1;  ///< below 0: it does not follow an evaluation
};

/// From the first bytes of a file; none where that is no checkpoint.
using DescribeCheckpoint = std::function<std::optional<CheckpointNote>(std::span<const std::byte> begin)>;

/// From one thread.
class CheckpointFiles {
 public:
  static constexpr std::size_t kShownMax = 20;                       ///< the newest ones
  static constexpr std::size_t kEntriesMax = 100000;                 ///< of the folder that are looked at
  static constexpr std::size_t kBeginBytes = std::size_t{64} << 10;  ///< of a file, to describe it
  static constexpr std::uint32_t kDownloadsMax = 8;                  ///< at a time

  /// `folder` empty: there is none. `describe` may be empty.
  CheckpointFiles(std::string folder, DescribeCheckpoint describe) : folder_(std::move(folder)), describe_(std::move(describe)) {}

  /// {"available": a folder is known, "total": there are, "checkpoints": [the newest kShownMax, newest first]}
  [[nodiscard]] std::string json() const;

  enum class Opened { yes, no_such, too_many };
  /// A checkpoint by its name, which is a file name that the aggregator would give, and nothing else.
  Opened open(std::string_view name, std::shared_ptr<http::FileBody>& out) const;

 private:
  std::string folder_;
  DescribeCheckpoint describe_;
};

/// The number in "checkpoint-00000012.hgck", of 8 to 20 digits; none for any other text.
std::optional<std::uint64_t> number_of_checkpoint(std::string_view name);

}  // namespace hourglass
