// SPDX-License-Identifier: Apache-2.0
#include "actors/aggregator/state_collection.h"

#include <utility>

namespace hourglass {

void StateCollection::begin(Context& context, const std::vector<ActorId>& who, std::uint32_t generation, std::uint64_t number) {
  active_ = true;
  since_ = context.now();
  open_.clear();
  done_.clear();
  for (const ActorId id : who) open_.emplace(id, StateFetch(id, generation, number)).first->second.ask(context);
}

void StateCollection::tick(Context& context) {
  for (auto& [id, fetch] : open_) fetch.tick(context);
}

void StateCollection::take(Context& context, ActorId from, const StateChunk& chunk) {
  const auto open = open_.find(from);
  if (open == open_.end()) return;
  auto whole = open->second.take(context, from, chunk);
  if (!whole) return;
  done_[from] = std::move(*whole);
  open_.erase(open);
}

std::map<ActorId, Bytes> StateCollection::end() {
  active_ = false;
  open_.clear();
  return std::exchange(done_, {});
}

}  // namespace hourglass
