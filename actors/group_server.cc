// SPDX-License-Identifier: Apache-2.0
#include "actors/group_server.h"

#include <algorithm>

#include "actors/group_member.h"
#include "actors/tree.h"
#include "base/mutant.h"

namespace hourglass {
namespace {
constexpr Duration kStuckAfter = std::chrono::seconds(3);
constexpr std::size_t kBelowMax = 16 * limits::kMembers;
}  // namespace

template <class Store>
BasicGroupServer<Store>::BasicGroupServer(Group group, Store store, params::StalenessBound bound, std::uint32_t publish_every,
                                          std::uint64_t run, std::uint32_t generation, GroupPolicies policies)
    : group_(group),
      store_(std::move(store)),
      clocks_(bound),
      policies_(std::move(policies)),
      publish_every_(policies_.buffer() > 0 ? policies_.buffer() : publish_every),
      run_(run),
      generation_(generation) {
  static_assert(kVerdictsKept >= GroupMember::kClockWindow, "the verdict of any push that may still be repeated is known");
}

template <class Store>
std::uint64_t BasicGroupServer<Store>::join(ActorId id) {
  const auto before = departed_.find(id);
  const auto below = below_.find(id);
  const auto [row, fresh] = peers_.try_emplace(id);
  if (!fresh) return clocks_.pushed(id);
  Peer& peer = row->second;
  peer.carried = below == below_.end() ? 0 : below->second;
  const std::uint64_t pushed = before == departed_.end() ? 0 : before->second.pushed;
  if (before != departed_.end() && pushed >= peer.carried) peer.verdicts = before->second.verdicts;
  peer.contained = std::max(pushed, peer.carried);
  clocks_.join(id, peer.contained);
  return peer.contained;
}

template <class Store>
std::uint64_t BasicGroupServer<Store>::known_clock(ActorId id) const {
  const auto before = departed_.find(id);
  const auto below = below_.find(id);
  return std::max({contains(id) ? clocks_.pushed(id) : 0, before == departed_.end() ? 0 : before->second.pushed,
                   below == below_.end() ? 0 : below->second});
}

template <class Store>
void BasicGroupServer<Store>::leave(Context& context, ActorId id, bool moved) {
  const auto found = peers_.find(id);
  if (found == peers_.end()) return;
  if (moved) {
    departed_[id] = {clocks_.pushed(id), std::move(found->second.verdicts), std::nullopt};
  } else {
    const std::uint64_t pushed = clocks_.pushed(id);
    std::uint64_t next_life = pushed + kVerdictsKept;
    if constexpr (!Store::kOwnsParameters) {
      // The roster without the member may come after its next membership's first word: then nothing of that one is void.
      const bool begun = pushed != first_clock_of(membership_of(pushed));
      next_life = begun ? first_clock_of(membership_of(pushed) + 1) : pushed;
    }
    departed_[id] = {next_life, {}, params::PushMarks{pushed, rejected_of(found->second.verdicts)}};
  }
  peers_.erase(found);
  if (!mutant(Mutant::dead_hold_back)) clocks_.leave(id);
  policies_.left(id);
  release(context);  // it may have been the slowest
}

template <class Store>
std::vector<ActorId> BasicGroupServer<Store>::members() const {
  std::vector<ActorId> out;
  for (const auto& [id, peer] : peers_) out.push_back(id);
  return out;
}

template <class Store>
void BasicGroupServer<Store>::expect(ActorId id, std::size_t workers) {
  const auto found = peers_.find(id);
  if (found == peers_.end()) return;
  found->second.expected = workers;
  if (!found->second.pushed) found->second.workers = workers;
}

template <class Store>
std::size_t BasicGroupServer<Store>::workers(std::uint64_t round, bool flush) const {
  std::size_t sum = 0;
  for (const auto& [id, peer] : peers_) sum += flush ? peer.expected : (clocks_.shares(id, round) ? peer.workers : 0);
  return sum;
}

template <class Store>
bool BasicGroupServer<Store>::set_active(Context& context, ActorId id, bool active) {
  if (!clocks_.set_active(id, active)) return false;
  if (active) policies_.woke(id);
  release(context);
  return true;
}

template <class Store>
Verdict BasicGroupServer<Store>::judge(const Peer& peer, const GradientPush& message, std::uint64_t& staleness) const {
  for (const GradientBlock& block : message.blocks) {
    const Status status = compress::validate(block, store_.size());
    if (!status.ok()) return status.error().code == Errc::bad_data ? Verdict::nonfinite : Verdict::shape;
  }
  if (closed_) return Verdict::moved;
  if constexpr (!Store::kOwnsParameters) return Verdict::applied;  // versions are the root's to judge
  if (message.base_version > store_.version()) return Verdict::version;
  const auto own =
      std::count_if(peer.own_versions.begin(), peer.own_versions.end(), [&](std::uint64_t v) { return v > message.base_version; });
  staleness = store_.version() - message.base_version - static_cast<std::uint64_t>(own);
  params::StalenessBound widest = clocks_.bound();
  if (widest.slack) *widest.slack += policies_.range();
  const auto most = widest.versions(clocks_.active_max());
  // A flush carries what error feedback held back: it belongs to no version.
  if (most && staleness > *most && !message.flush && !mutant(Mutant::staleness_ignored)) return Verdict::stale;
  return Verdict::applied;
}

/// A push of one that has left for another parent, or has come from one and is not expected here yet.
template <class Store>
void BasicGroupServer<Store>::answer_stranger(Context& context, ActorId from, const GradientPush& message) {
  context.count("refused.pushes_of_strangers", 1);
  const auto before = departed_.find(from);
  if (before == departed_.end() || message.run != run_ || message.generation != generation_) return;
  Departed& departed = before->second;
  if (message.clock < departed.pushed) {
    const std::uint64_t age = departed.pushed - 1 - message.clock;
    if (age < departed.verdicts.size()) return answer(context, from, message.clock, departed.verdicts[departed.verdicts.size() - 1 - age]);
  }
  const auto below = below_.find(from);
  if (below != below_.end() && message.clock < below->second) return answer(context, from, message.clock, Verdict::applied);
  if (message.clock != departed.pushed) return;  // void, or its predecessor comes again, too
  departed.verdicts.push_back(Verdict::moved);
  if (departed.verdicts.size() > kVerdictsKept) departed.verdicts.pop_front();
  ++departed.pushed;
  answer(context, from, message.clock, Verdict::moved);
}

template <class Store>
void BasicGroupServer<Store>::on(Context& context, ActorId from, GradientPush&& message) {
  const auto found = peers_.find(from);
  if (found == peers_.end()) return answer_stranger(context, from, message);
  if (message.run != run_ || (message.generation != generation_ && !mutant(Mutant::stale_generation))) {
    context.count("refused.pushes_of_strangers", 1);
    return;
  }
  Peer& peer = found->second;
  const std::uint64_t next = clocks_.pushed(from);
  if (message.clock < next && !mutant(Mutant::no_deduplication)) {
    ++ledger_.duplicates;
    const std::uint64_t age = next - 1 - message.clock;
    if (age < peer.verdicts.size()) {
      answer(context, from, message.clock,
             mutant(Mutant::verdict_forgotten) ? Verdict::stale : peer.verdicts[peer.verdicts.size() - 1 - age]);
    } else if (message.clock < peer.carried) {
      answer(context, from, message.clock, Verdict::applied);
    }
    return;
  }
  if (message.clock > next && !mutant(Mutant::gaps_accepted)) {
    ++ledger_.gaps;
    return;
  }
  last_push_ = context.now();
  peer.large.arrived(context.now(), message.base_version);
  std::uint64_t staleness = 0;
  Verdict verdict = judge(peer, message, staleness);
  if constexpr (!Store::kOwnsParameters) {
    if (verdict == Verdict::applied && !store_.take(message.blocks, message.flush)) verdict = Verdict::nonfinite;
  }
  if (note_) note_(context, from, message, verdict);
  ++ledger_.received;
  ++ledger_.by_verdict[static_cast<std::size_t>(verdict)];
  if (verdict == Verdict::applied) {
    take(peer, from, message, staleness);
  } else {
    context.log(Severity::warning, "push rejected", {{"peer", to_string(from)}, {"reason", std::string(name_of(verdict))}});
  }
  peer.flushed = peer.flushed || (message.flush && verdict != Verdict::moved);
  peer.verdicts.push_back(verdict);
  if (peer.verdicts.size() > kVerdictsKept) peer.verdicts.pop_front();
  clocks_.advance(from);
  policies_.pushed(context.now(), from, message, clocks_);
  answer(context, from, message.clock, verdict);
  peer.owed = true;
  release(context);
}

template <class Store>
void BasicGroupServer<Store>::take(Peer& peer, ActorId from, const GradientPush& message, std::uint64_t staleness) {
  for (const Carried& child : message.carried) {
    if (from.role != Role::tree_node) break;
    if (below_.size() < kBelowMax || below_.contains(child.id)) below_[child.id] = std::max(below_[child.id], child.clock);
  }
  if (!message.flush) {
    peer.workers = message.workers;
    peer.pushed = true;
  }
  if constexpr (Store::kOwnsParameters) {
    // The mean over all workers that contribute to a round; after the data is used up, over everybody.
    std::size_t sharing = workers(clocks_.pace(from), message.flush);
    if (!message.flush && !clocks_.shares(from, clocks_.pace(from))) sharing += peer.workers;
    const std::uint64_t pace = clocks_.pace(from);
    oldest_unpublished_ = store_.version() == store_.published_version() ? pace : std::min(oldest_unpublished_, pace);
    if (!mutant(Mutant::applied_in_name_only))
      policies_.apply(store_, from, message, {staleness, clocks_.sharing(from), std::max<std::size_t>(sharing, 1)});
    peer.own_versions.push_back(store_.version());
    if (peer.own_versions.size() > kVerdictsKept) peer.own_versions.pop_front();
  }
  if (!message.flush) ledger_.note(staleness);
}

template <class Store>
void BasicGroupServer<Store>::answer(Context& context, ActorId to, std::uint64_t clock, Verdict verdict) const {
  (void)context.send(to, PushVerdict{generation_, group_, clock, verdict});  // lost: the push is repeated and answered again
}

template <class Store>
void BasicGroupServer<Store>::on(Context& context, ActorId from, const ParameterRequest& message) {
  const auto found = peers_.find(from);
  if (message.generation != generation_) return;
  if (found == peers_.end()) {  // it will hear that it has another parent when it repeats its pushes
    if (departed_.size() >= kBelowMax && !departed_.contains(from)) return;
    Departed& departed = departed_[from];
    if (message.clock <= departed.pushed) return;
    departed.pushed = message.clock;
    departed.verdicts.clear();
    return;
  }
  Peer& peer = found->second;
  if (message.clock > clocks_.pushed(from)) {  // what lies between was settled elsewhere
    clocks_.skip(from, message.clock);
    peer.verdicts.clear();
    peer.contained = message.clock;
  }
  peer.flushed = peer.flushed || message.flushed;
  if (!peer.chunks.empty()) return;  // under way
  if (message.has_version) peer.large.arrived(context.now(), message.version);
  if (peer.large.under_way(context.now())) return;
  peer.sent_version = message.has_version ? message.version : 0;
  if (!message.has_version) peer.values_wanted = true;
  peer.owed = peer.asked = true;
  release(context);
}

template <class Store>
void BasicGroupServer<Store>::tick(Context& context) {
  level_if_stuck(context);
  release(context);
}

/// Synchronous FC workers share the rounds of the CONV workers. One that had to split a round (a batch was lost, or went elsewhere while
/// the roster changed) counts a unit too many, and two such units would stop the cluster: it waits for FC workers that wait for CONV
/// workers that wait for it. The barrier is on the CONV side; so, where nothing moves, the FC clocks are made level again.
template <class Store>
void BasicGroupServer<Store>::level_if_stuck(Context& context) {
  if (group_ != Group::fc || context.now() - last_push_ < kStuckAfter) return;
  const bool waits =
      std::any_of(peers_.begin(), peers_.end(), [&](const auto& row) { return row.second.owed && !clocks_.admits_next(row.first); });
  if (!waits) return;
  clocks_.level();
  last_push_ = context.now();
  context.count("fc_clocks_levelled", 1);
}

template <class Store>
void BasicGroupServer<Store>::release(Context& context) {
  bool published = false;
  for (auto& [id, peer] : peers_) {
    while (!peer.chunks.empty() && context.post(id, peer.chunks.front()).ok()) peer.chunks.pop_front();
    if (!peer.owed || !peer.chunks.empty() || !may_answer(id, peer)) continue;
    if constexpr (Store::kOwnsParameters) {
      if (!published && publication_due(id, peer)) {
        publish();
        published = true;
      }
    }
    if (Store::kOwnsParameters && store_.version() == store_.published_version())
      peer.contained = clocks_.pushed(id);  // rejected ones, too
    peer.owed = !send_update(context, id, peer);
    if (peer.owed) continue;
    if constexpr (Store::kOwnsParameters) policies_.answered(context.now(), id, store_.published_version(), store_.published());
    peer.asked = false;
    peer.news = news_;
  }
}

template <class Store>
void BasicGroupServer<Store>::publish() {
  if constexpr (Store::kOwnsParameters) store_.publish();
  for (auto& [id, peer] : peers_) peer.contained = clocks_.pushed(id);
}

/// One delta for a whole round costs a worker as much as one for a single push: so a compressed stream waits for a round's pushes. But a
/// read at pace c contains every push of pace c - s - 1 and before.
template <class Store>
bool BasicGroupServer<Store>::publication_due(ActorId reader, const Peer& peer) const {
  if ((store_.lossless() && policies_.buffer() == 0) || peer.values_wanted) return true;
  const std::uint64_t waiting = store_.version() - store_.published_version();
  if (waiting >= (publish_every_ == 0 ? std::max<std::size_t>(1, clocks_.active_count()) : publish_every_)) return true;
  const auto& slack = clocks_.bound().slack;
  return waiting > 0 && slack && oldest_unpublished_ + *slack < clocks_.pace(reader);
}

template <class Store>
bool BasicGroupServer<Store>::may_answer(ActorId id, const Peer& peer) const {
  if constexpr (Store::kOwnsParameters) return clocks_.admits_next(id);
  if (!peer.asked && peer.news == news_) return false;  // nothing to tell before the parent has answered
  if (peer.flushed) return true;
  return !held_ && clocks_.admits_next(id) && (!last_pace_ || clocks_.pace(id) <= *last_pace_);
}

template <class Store>
void BasicGroupServer<Store>::admit(Context& context, std::optional<std::uint64_t> pace) {
  last_pace_ = pace;
  held_ = false;
  ++news_;
  release(context);
}

template <class Store>
void BasicGroupServer<Store>::contained(ActorId id, std::uint64_t clock) {
  const auto found = peers_.find(id);
  if (found != peers_.end()) found->second.contained = std::max(found->second.contained, clock);
}

template <class Store>
std::uint64_t BasicGroupServer<Store>::admitted(ActorId to) const {
  std::uint64_t admitted = clocks_.admitted(to).value_or(ParameterUpdate::kNoBound);
  if (last_pace_) {
    const std::uint64_t pace = clocks_.pace(to);
    admitted = std::min(admitted, clocks_.pushed(to) + std::max(*last_pace_, pace == 0 ? 0 : pace - 1) - pace);
  }
  return admitted;
}

template <class Store>
void BasicGroupServer<Store>::publish_final(Context& context) {
  if constexpr (Store::kOwnsParameters) store_.publish_exact();
  ++news_;
  for (auto& [id, peer] : peers_) {
    peer.owed = peer.values_wanted = true;
    if constexpr (Store::kOwnsParameters) peer.contained = clocks_.pushed(id);
  }
  release(context);
}

template <class Store>
bool BasicGroupServer<Store>::owes() const {
  return std::any_of(peers_.begin(), peers_.end(), [](const auto& row) { return row.second.owed; });
}

template <class Store>
bool BasicGroupServer<Store>::everybody_flushed() const {
  return std::all_of(peers_.begin(), peers_.end(), [](const auto& row) { return row.second.flushed; });
}

template <class Store>
std::uint64_t BasicGroupServer<Store>::version_sent(ActorId id) const {
  const auto found = peers_.find(id);
  return found == peers_.end() ? 0 : found->second.sent_version;
}

template class BasicGroupServer<params::ParameterStore>;
template class BasicGroupServer<params::Relay>;

}  // namespace hourglass
