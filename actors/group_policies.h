// SPDX-License-Identifier: Apache-2.0
// What the aggregator decides about a parameter group's asynchrony, beyond the bound s: the job's policies, and what they need to know of
// each member. A relay has neutral ones.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "learning/params/apply_policy.h"
#include "learning/params/bound_policy.h"
#include "learning/params/clocks.h"
#include "learning/params/local_policy.h"
#include "learning/params/parameter_store.h"
#include "learning/params/stale_policy.h"
#include "messages/gradient_push.h"
#include "messages/parameter_update.h"

namespace hourglass {

class GroupPolicies {
 public:
  /// All neutral.
  GroupPolicies() = default;
  /// Errors: bad_config.
  static Result<GroupPolicies> make(const Job& job, Group group, std::uint32_t buffer);

  /// A push was accounted for; `clocks` have it. The fastest may get more than the bound.
  void pushed(Instant now, ActorId from, const GradientPush& push, params::ClockTable& clocks);
  /// The member was sent an update that leads to these values.
  void answered(Instant now, ActorId to, std::uint64_t version, const std::vector<float>& values);
  /// It begins anew: how long it paused says nothing about its speed.
  void woke(ActorId id) { members_[id].waiting = true; }
  void left(ActorId id);
  void fill(ParameterUpdate& update, ActorId to) const;

  struct Standing {
    std::uint64_t versions = 0;  ///< of others, applied since the push's read
    std::size_t members = 1;     ///< that push in its round
    std::size_t workers = 1;     ///< whose mean the round is
  };
  /// Adds a validated push to the parameters with its weight, or gives it to their rule.
  void apply(params::ParameterStore& store, ActorId from, const GradientPush& push, const Standing& standing);
  /// Factor on a push's weight: `versions` of others were applied since its read, `sharing` members push in a round.
  [[nodiscard]] double weight(std::uint64_t versions, std::size_t sharing) const;
  /// Null where nothing is to be compensated.
  [[nodiscard]] params::StalePolicy* compensation() { return stale_ && stale_->compensates() ? stale_.get() : nullptr; }
  /// What the member was sent as this version; null where that is not known any more.
  [[nodiscard]] const std::vector<float>* read_by(ActorId id, std::uint64_t version) const;
  /// Pushes that are published together; 0: as the downlink says.
  [[nodiscard]] std::uint32_t buffer() const { return buffer_; }
  /// Most that is granted beyond the bound.
  [[nodiscard]] std::uint64_t range() const { return bound_ ? bound_->range() : 0; }

 private:
  struct Read {
    std::uint64_t version = 0;
    std::shared_ptr<const std::vector<float>> values;
  };
  struct Member {
    std::optional<Instant> working_since;
    bool waiting = true;      ///< for an update: it cannot start anything
    std::vector<Read> reads;  ///< oldest first; older than its newest push's base only the newest
  };
  static constexpr std::size_t kReadsMax = 64;
  std::unique_ptr<params::BoundPolicy> bound_;
  std::unique_ptr<params::LocalPolicy> local_;
  std::unique_ptr<params::StalePolicy> stale_;
  std::uint32_t buffer_ = 0;
  std::map<ActorId, Member> members_;
};

/// What the aggregator makes of a group's pushes, and when.
struct GroupParts {
  std::unique_ptr<params::ServerRule> rule;  ///< of the job's server rule or apply policy; null where pushes are added
  GroupPolicies policies;
};
/// `owned_elsewhere`: by the only FC worker; then nothing is pushed. Errors: bad_config.
Result<GroupParts> make_group_parts(const Job& job, Group group, bool owned_elsewhere, std::size_t size);

}  // namespace hourglass
