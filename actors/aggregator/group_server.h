// SPDX-License-Identifier: Apache-2.0
// The aggregator's side of one parameter group: takes pushes exactly once, keeps the ledger, answers as soon as the staleness bound admits.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "learning/params/clocks.h"
#include "learning/params/parameter_store.h"
#include "messages/all_messages.h"
#include "runtime/context.h"

namespace hourglass {

/// received = sum of by_verdict, always; duplicates are counted apart.
struct Ledger {
  std::uint64_t received = 0;
  std::vector<std::uint64_t> by_verdict = std::vector<std::uint64_t>(static_cast<std::size_t>(kLastVerdict) + 1);
  std::uint64_t duplicates = 0;
  std::uint64_t gaps = 0;           ///< pushes whose predecessor is missing; the sender repeats both
  std::uint64_t staleness_max = 0;  ///< versions of others between read and apply
  double staleness_sum = 0;
  [[nodiscard]] std::uint64_t applied() const { return by_verdict[static_cast<std::size_t>(Verdict::applied)]; }
  [[nodiscard]] double staleness_mean() const { return applied() == 0 ? 0 : staleness_sum / static_cast<double>(applied()); }
};

class GroupServer {
 public:
  /// `publish_every`: pushes between two publications of a compressed downlink; 0: as many as there are active members. Whatever it says, a
  /// member reads all pushes that its bound promises it.
  GroupServer(Group group, params::ParameterStore store, params::StalenessBound bound, std::uint32_t publish_every, std::uint64_t run,
              std::uint32_t generation);

  /// The clock of its first push.
  std::uint64_t join(ActorId id);
  void leave(Context& context, ActorId id);
  /// True when this changed something.
  bool set_active(Context& context, ActorId id, bool active);
  void on(Context& context, ActorId from, GradientPush&& message);
  void on(Context& context, ActorId from, const ParameterRequest& message);
  /// Every member has flushed: the exact values become the published ones and go to everybody.
  void publish_final(Context& context);
  /// Sends what could not be sent before.
  void tick(Context& context);

  [[nodiscard]] bool everybody_flushed() const;
  [[nodiscard]] const Ledger& ledger() const { return ledger_; }
  [[nodiscard]] const params::ParameterStore& store() const { return store_; }
  params::ParameterStore& store() { return store_; }
  [[nodiscard]] const params::ClockTable& clocks() const { return clocks_; }
  [[nodiscard]] std::uint64_t version_sent(ActorId id) const;

 private:
  static constexpr std::size_t kVerdictsKept = 64;  ///< per member; more than its push window
  struct Peer {
    std::uint64_t sent_version = 0;  ///< where the last update leads
    bool owed = false;               ///< an update, as soon as the bound admits
    bool values_wanted = false;      ///< the final values, whatever it has
    bool flushed = false;
    std::deque<Verdict> verdicts;            ///< of the newest pushes, the last one being clock pushed - 1
    std::deque<std::uint64_t> own_versions;  ///< versions that its own newest pushes made
    std::deque<Parcel> chunks;               ///< rest of a snapshot
  };
  Verdict judge(const Peer& peer, const GradientPush& message, std::uint64_t& staleness) const;
  void answer(Context& context, ActorId to, std::uint64_t clock, Verdict verdict) const;
  void release(Context& context);
  [[nodiscard]] bool publication_due(ActorId reader, const Peer& peer) const;
  void level_if_stuck(Context& context);
  bool send_update(Context& context, ActorId to, Peer& peer);
  void queue_snapshot(ActorId to, Peer& peer);
  [[nodiscard]] std::uint64_t admitted(ActorId to) const;

  Group group_;
  params::ParameterStore store_;
  params::ClockTable clocks_;
  std::uint32_t publish_every_;
  std::uint64_t oldest_unpublished_ = 0;  ///< least pace of the pushes applied since the last publication
  std::uint64_t run_;
  std::uint32_t generation_;
  std::map<ActorId, Peer> peers_;
  std::map<ActorId, std::uint64_t> departed_;  ///< clocks that their pushes under way may still bear end here
  Ledger ledger_;
  Instant last_push_{};
};

}  // namespace hourglass
