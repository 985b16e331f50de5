// SPDX-License-Identifier: Apache-2.0
// The parent's side of one parameter group, be it the aggregator or a tree node: takes pushes exactly once, keeps the ledger, answers as
// soon as the staleness bound admits.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "actors/group_policies.h"
#include "actors/ledger.h"
#include "actors/patience.h"
#include "base/archive.h"
#include "learning/params/clocks.h"
#include "learning/params/inheritance.h"
#include "learning/params/parameter_store.h"
#include "learning/params/relay.h"
#include "messages/all_messages.h"
#include "runtime/context.h"

namespace hourglass {

/// Store: params::ParameterStore of the aggregator, which applies pushes and publishes; or params::Relay of a tree node, which merges them
/// and passes on what its parent publishes. A relay's children are further bounded by what the parent admits, and answered when it has
/// answered.
template <class Store>
class BasicGroupServer {
 public:
  /// `publish_every`: pushes between two publications of a compressed downlink; 0: as many as there are active members. Whatever it says, a
  /// member reads all pushes that its bound promises it.
  BasicGroupServer(Group group, Store store, params::StalenessBound bound, std::uint32_t publish_every, std::uint64_t run,
                   std::uint32_t generation, GroupPolicies policies = {});

  /// The clock of its first push.
  std::uint64_t join(ActorId id);
  /// `moved`: it goes on under another parent. Pushes of it that come late are answered as before, or rejected: their content returns.
  void leave(Context& context, ActorId id, bool moved = false);
  /// Above every push of this member that was decided here or that others told of; 0: none is known.
  [[nodiscard]] std::uint64_t known_clock(ActorId id) const;
  [[nodiscard]] bool contains(ActorId id) const { return peers_.contains(id); }
  [[nodiscard]] std::vector<ActorId> members() const;
  /// As the roster tells: how many workers there are in the member's subtree.
  void expect(ActorId id, std::size_t workers);
  /// True when this changed something.
  bool set_active(Context& context, ActorId id, bool active);
  void on(Context& context, ActorId from, GradientPush&& message);
  void on(Context& context, ActorId from, const ParameterRequest& message);
  /// Every member has flushed: the exact values become the published ones and go to everybody.
  void publish_final(Context& context);
  /// Of a relay: children may run up to this pace (empty: no bound), and the newest values are there to be passed on.
  void admit(Context& context, std::optional<std::uint64_t> pace);
  /// Of a relay: nobody is answered before the next admit(), but those who are done.
  void hold() { held_ = true; }
  /// Of a relay: the values here contain the child's pushes below `clock`.
  void contained(ActorId id, std::uint64_t clock);
  /// Of a member that left, and joins again or has joined again: what became of its earlier pushes. Empty where others may know better.
  [[nodiscard]] std::optional<params::PushMarks> marks(ActorId id) const;
  /// Called with each decision, before anything else happens.
  using Note = std::function<void(Context&, ActorId, const GradientPush&, Verdict)>;
  void set_note(Note note) { note_ = std::move(note); }
  /// Ledger and marks: with the store's state, all that another life needs. load(): of a server that nobody has joined yet.
  void save(ArchiveWriter& out) const;
  void load(ArchiveReader& in);
  /// A decision of an earlier life that the state it left does not contain.
  void roll_back(ActorId id, std::uint64_t clock, Verdict verdict);
  /// Rejects every push from now on.
  void close() { closed_ = true; }
  /// How many workers share the round; with `flush`, how many there are.
  [[nodiscard]] std::size_t workers(std::uint64_t round, bool flush) const;

  /// Sends what could not be sent before.
  void tick(Context& context);

  [[nodiscard]] bool everybody_flushed() const;
  /// Is anybody waiting for an update?
  [[nodiscard]] bool owes() const;
  [[nodiscard]] const Ledger& ledger() const { return ledger_; }
  [[nodiscard]] const Store& store() const { return store_; }
  Store& store() { return store_; }
  [[nodiscard]] const params::ClockTable& clocks() const { return clocks_; }
  [[nodiscard]] std::uint64_t version_sent(ActorId id) const;

 private:
  static constexpr std::size_t kVerdictsKept = 64;  ///< per member
  struct Peer {
    std::uint64_t sent_version = 0;  ///< where the last update leads
    bool owed = false;               ///< an update, as soon as the bound admits
    bool values_wanted = false;      ///< the final values, whatever it has
    bool flushed = false;
    bool asked = false;       ///< by a request: a relay answers with what it has
    std::uint64_t news = 0;   ///< of a relay: the admit() that the last update came after
    std::size_t workers = 1;  ///< as its last push told, or before that as expected
    std::size_t expected = 1;
    bool pushed = false;
    std::uint64_t carried = 0;               ///< pushes below this came through a node that is gone
    std::uint64_t contained = 0;             ///< its pushes below are in what is published; of a relay: as told by contained()
    std::deque<Verdict> verdicts;            ///< of the newest pushes, the last one being clock pushed - 1
    std::deque<std::uint64_t> own_versions;  ///< versions that its own newest pushes made
    std::deque<Parcel> chunks;               ///< rest of a snapshot
    std::size_t unsent_bytes = 0;            ///< of an update for which there was no room
    LargeUpdate large;
  };
  struct Departed {
    std::uint64_t pushed = 0;  ///< clocks that its pushes under way may still bear end here
    std::deque<Verdict> verdicts;
    std::optional<params::PushMarks> marks;
  };
  static std::uint64_t rejected_of(const std::deque<Verdict>& verdicts);
  Verdict judge(const Peer& peer, const GradientPush& message, std::uint64_t& staleness) const;
  void take(Peer& peer, ActorId from, const GradientPush& message, std::uint64_t staleness);
  void answer_stranger(Context& context, ActorId from, const GradientPush& message);
  [[nodiscard]] bool may_answer(ActorId id, const Peer& peer) const;
  void answer(Context& context, ActorId to, std::uint64_t clock, Verdict verdict) const;
  void release(Context& context);
  void publish();
  [[nodiscard]] bool publication_due(ActorId reader, const Peer& peer) const;
  void level_if_stuck(Context& context);
  bool send_update(Context& context, ActorId to, Peer& peer);
  void queue_snapshot(Context& context, ActorId to, Peer& peer);
  [[nodiscard]] std::uint64_t admitted(ActorId to) const;

  Group group_;
  Store store_;
  params::ClockTable clocks_;
  GroupPolicies policies_;
  std::uint32_t publish_every_;
  std::uint64_t oldest_unpublished_ = 0;  ///< least pace of the pushes applied since the last publication
  std::uint64_t run_;
  std::uint32_t generation_;
  std::map<ActorId, Peer> peers_;
  std::map<ActorId, Departed> departed_;
  std::map<ActorId, std::uint64_t> below_;  ///< nodes' children: clocks of the first pushes that did not come through
  std::optional<std::uint64_t> last_pace_;  ///< admitted by a relay's parent
  std::uint64_t news_ = 0;
  bool held_ = !Store::kOwnsParameters;
  bool closed_ = false;
  Ledger ledger_;
  Note note_;
  Instant last_push_{};
};

using GroupServer = BasicGroupServer<params::ParameterStore>;
using RelayServer = BasicGroupServer<params::Relay>;
extern template class BasicGroupServer<params::ParameterStore>;
extern template class BasicGroupServer<params::Relay>;

}  // namespace hourglass
