// SPDX-License-Identifier: Apache-2.0
// Every push is decided exactly once, in order, within the staleness bound, and counted: what the aggregator says of its versions and its
// ledger is compared with what an onlooker counts.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "messages/all_messages.h"
#include "services/simulation/checks/paces.h"
#include "services/simulation/checks/violations.h"

namespace hourglass::checks {

class PushCheck {
 public:
  PushCheck(const Job& job, Violations& violations) : job_(job), violations_(violations) {}

  void handles(Instant now, ActorId parent, ActorId child, const GradientPush& push);
  void handles(ActorId child, const PushVerdict& verdict);
  /// A tree node that joins anew has forgotten its children.
  void handles(ActorId member, const Welcome& welcome);
  void posts(Instant now, ActorId child, const GradientPush& push);
  void posts(Instant now, ActorId parent, ActorId child, const PushVerdict& verdict);
  void posts(Instant now, const ParameterUpdate& update);  ///< the aggregator's
  void posts(Instant now, const SnapshotChunk& chunk);     ///< likewise
  /// `journal_whole`: earlier lives' verdicts are known to the present one.
  void posts(Instant now, ActorId to, const Welcome& welcome, bool journal_whole);
  void posts(const Roster& roster);

  /// Samples in this worker's pushes that it knows to be settled.
  [[nodiscard]] std::uint64_t settled_samples(ActorId worker) const;

  struct Books {
    std::uint64_t received = 0;
    std::map<Verdict, std::uint64_t> by_verdict;
    std::uint64_t versions = 0;  ///< pushes applied
  };
  /// There was an earlier aggregator: some of what is counted here was rolled back.
  [[nodiscard]] bool restarted() const { return restarted_; }
  /// Of those pushes that came to the aggregator, in all its lives.
  [[nodiscard]] const Books& books(Group group) const { return group == Group::conv ? conv_.books : fc_.books; }
  [[nodiscard]] std::uint64_t pushes_applied() const { return conv_.books.versions; }
  /// Widest gap between a push's pace and the slowest worker's.
  [[nodiscard]] std::uint64_t widest_gap() const { return widest_gap_; }

 private:
  /// (generation, group, parent, child, clock)
  using Name = std::tuple<std::uint32_t, Group, ActorId, ActorId, std::uint64_t>;
  using Sender = std::pair<Group, ActorId>;
  struct Ours {
    Books books;
    std::map<ActorId, std::deque<std::uint64_t>> own_versions;  ///< by sender: versions that its newest pushes made
  };
  struct Handled {
    ActorId parent, child;
    GradientPush push;
    Instant at;
  };
  void decide(Instant now, ActorId parent, ActorId child, const PushVerdict& verdict);
  void in_order(Instant now, ActorId parent, ActorId child, const PushVerdict& verdict);
  void within_bound(Instant now, ActorId child, const GradientPush& push);
  void no_later_than_counted(Instant now, Group group, std::uint64_t version);
  Ours& of(Group group) { return group == Group::conv ? conv_ : fc_; }
  [[nodiscard]] bool tree() const { return job_.tree_arity > 0; }
  [[nodiscard]] bool fc_alone() const { return job_.fc_workers == 1; }

  const Job& job_;
  Violations& violations_;
  std::optional<Handled> handled_;  ///< the newest push that anybody handles
  std::map<Name, Verdict> decided_;
  std::map<std::tuple<std::uint32_t, Group, ActorId, ActorId>, std::uint64_t> next_;  ///< clock that a parent should take next
  Ours conv_, fc_;
  std::uint32_t generation_ = 0;
  bool restarted_ = false;
  std::map<Sender, std::uint64_t> decided_below_;  ///< by the aggregator, in all its lives
  std::map<ActorId, std::uint64_t> first_clocks_;  ///< that members were welcomed with
  Paces conv_paces_{Role::conv_worker}, fc_paces_{Role::fc_worker};
  std::uint64_t widest_gap_ = 0;
  std::map<ActorId, std::tuple<std::uint32_t, std::uint64_t>> nodes_joined_;  ///< generation and first clock of each tree node

  std::map<Sender, std::map<std::uint64_t, std::uint32_t>> open_;  ///< posted and not settled as far as the sender knows: clock -> samples
  std::map<Sender, std::pair<std::uint32_t, std::uint64_t>> newest_;  ///< generation and next clock of the sender's pushes
  std::map<ActorId, std::uint64_t> settled_samples_;
  std::map<ActorId, std::uint64_t> flushed_;  ///< by CONV worker: clock of its flush
};

}  // namespace hourglass::checks
