// SPDX-License-Identifier: Apache-2.0
#include "actors/aggregator/final_replicas.h"

#include "actors/replica_digest.h"

namespace hourglass {
namespace {
using namespace std::chrono_literals;
constexpr Duration kSendAgain = 5s;
constexpr Duration kGiveUp = 60s;  ///< the whole group must fit through a slow link several times
}  // namespace

bool FinalReplicas::settled(Context& context, GroupServer& group, const std::vector<ActorId>& workers,
                            const std::map<ActorId, Told>& told) {
  const Instant now = context.now();
  if (!ours_ || ours_->version != group.store().version()) {
    group.publish_final(context);
    ours_ = {group.store().version(), digest_of(group.store().exact())};
    published_ = sent_ = now;
  }
  std::vector<ActorId> different;
  for (const ActorId id : workers) {
    const auto theirs = told.find(id);
    if (theirs == told.end() || theirs->second.version != ours_->version) return false;
    if (theirs->second.digest != ours_->digest) different.push_back(id);
  }
  if (!different.empty() && now - published_ < kGiveUp) {
    if (now - sent_ >= kSendAgain) {
      sent_ = now;
      group.publish_final(context);
    }
    return false;
  }
  counts_ = {workers.size(), different.size()};
  for (const ActorId id : different) {
    context.count("replicas_differing", 1);
    context.log(Severity::error, "a worker's final parameters are not the run's", {{"peer", to_string(id)}});
  }
  return true;
}

}  // namespace hourglass
