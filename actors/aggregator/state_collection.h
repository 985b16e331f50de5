// SPDX-License-Identifier: Apache-2.0
// Workers' states on their way into a checkpoint, while training goes on.
#pragma once

#include <map>
#include <vector>

#include "actors/state_transfer.h"

namespace hourglass {

class StateCollection {
 public:
  /// Asks each of them.
  void begin(Context& context, const std::vector<ActorId>& who, std::uint32_t generation, std::uint64_t number);
  void tick(Context& context);
  void take(Context& context, ActorId from, const StateChunk& chunk);
  /// It has left: nothing will come.
  void forget(ActorId id) { open_.erase(id); }
  /// Begun, and not ended by end().
  [[nodiscard]] bool active() const { return active_; }
  [[nodiscard]] bool complete() const { return active_ && open_.empty(); }
  [[nodiscard]] Instant since() const { return since_; }
  /// What has come.
  std::map<ActorId, Bytes> end();

 private:
  bool active_ = false;
  Instant since_{};
  std::map<ActorId, StateFetch> open_;
  std::map<ActorId, Bytes> done_;
};

}  // namespace hourglass
