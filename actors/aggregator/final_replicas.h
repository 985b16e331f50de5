// SPDX-License-Identifier: Apache-2.0
// The end of training, for one parameter group: the exact values go to every worker, and each says what it has then.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "actors/group_server.h"

namespace hourglass {

struct ReplicaCounts {
  std::uint64_t compared = 0;   ///< final replicas that were held against the run's values
  std::uint64_t differing = 0;  ///< of them, not the same bit for bit
};

class FinalReplicas {
 public:
  /// What a worker says to have.
  struct Told {
    std::uint64_t version = 0;
    std::uint32_t digest = 0;
  };

  /// Every member of the group has flushed. True when each of `workers` has the final values, or has been sent them in vain for too long.
  /// A worker may have taken the published values of the last version, which are not the exact ones: it is waited for.
  bool settled(Context& context, GroupServer& group, const std::vector<ActorId>& workers, const std::map<ActorId, Told>& told);
  [[nodiscard]] const ReplicaCounts& counts() const { return counts_; }

 private:
  std::optional<Told> ours_;
  Instant published_{}, sent_{};
  ReplicaCounts counts_;
};

}  // namespace hourglass
