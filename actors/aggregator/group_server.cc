// SPDX-License-Identifier: Apache-2.0
#include "actors/aggregator/group_server.h"

#include <algorithm>

namespace hourglass {
namespace {
constexpr Duration kStuckAfter = std::chrono::seconds(3);
}

GroupServer::GroupServer(Group group, params::ParameterStore store, params::StalenessBound bound, std::uint32_t publish_every,
                         std::uint64_t run, std::uint32_t generation)
    : group_(group), store_(std::move(store)), clocks_(bound), publish_every_(publish_every), run_(run), generation_(generation) {}

std::uint64_t GroupServer::join(ActorId id) {
  const auto before = departed_.find(id);
  peers_.try_emplace(id);
  clocks_.join(id, before == departed_.end() ? 0 : before->second);
  return clocks_.pushed(id);
}

void GroupServer::leave(Context& context, ActorId id) {
  departed_[id] = clocks_.pushed(id) + kVerdictsKept;
  peers_.erase(id);
  clocks_.leave(id);
  release(context);  // it may have been the slowest
}

bool GroupServer::set_active(Context& context, ActorId id, bool active) {
  if (!clocks_.set_active(id, active)) return false;
  release(context);
  return true;
}

Verdict GroupServer::judge(const Peer& peer, const GradientPush& message, std::uint64_t& staleness) const {
  for (const GradientBlock& block : message.blocks) {
    const Status status = compress::validate(block, store_.size());
    if (!status.ok()) return status.error().code == Errc::bad_data ? Verdict::nonfinite : Verdict::shape;
  }
  if (message.base_version > store_.version()) return Verdict::version;
  const auto own =
      std::count_if(peer.own_versions.begin(), peer.own_versions.end(), [&](std::uint64_t v) { return v > message.base_version; });
  staleness = store_.version() - message.base_version - static_cast<std::uint64_t>(own);
  const auto most = clocks_.bound().versions(clocks_.active_max());
  // A flush carries what error feedback held back: it belongs to no version.
  if (most && staleness > *most && !message.flush) return Verdict::stale;
  return Verdict::applied;
}

void GroupServer::on(Context& context, ActorId from, GradientPush&& message) {
  const auto found = peers_.find(from);
  if (found == peers_.end() || message.run != run_ || message.generation != generation_) {
    context.count("pushes_of_strangers", 1);
    return;
  }
  Peer& peer = found->second;
  const std::uint64_t next = clocks_.pushed(from);
  if (message.clock < next) {
    ++ledger_.duplicates;
    const std::uint64_t age = next - 1 - message.clock;
    if (age < peer.verdicts.size()) answer(context, from, message.clock, peer.verdicts[peer.verdicts.size() - 1 - age]);
    return;
  }
  if (message.clock > next) {
    ++ledger_.gaps;
    return;
  }
  last_push_ = context.now();
  std::uint64_t staleness = 0;
  const Verdict verdict = judge(peer, message, staleness);
  ++ledger_.received;
  ++ledger_.by_verdict[static_cast<std::size_t>(verdict)];
  if (verdict == Verdict::applied) {
    // The mean over those who contribute to a round; after the data is used up, over everybody.
    const std::size_t sharing = message.flush ? peers_.size() : clocks_.sharing(from);
    const std::uint64_t pace = clocks_.pace(from);
    oldest_unpublished_ = store_.version() == store_.published_version() ? pace : std::min(oldest_unpublished_, pace);
    store_.apply(message.blocks, 1.0F / static_cast<float>(sharing), message.progress);
    peer.own_versions.push_back(store_.version());
    if (peer.own_versions.size() > kVerdictsKept) peer.own_versions.pop_front();
    if (!message.flush) {
      ledger_.staleness_max = std::max(ledger_.staleness_max, staleness);
      ledger_.staleness_sum += static_cast<double>(staleness);
    }
  } else {
    context.log(Severity::warning, "push rejected", {{"peer", to_string(from)}, {"reason", std::string(name_of(verdict))}});
  }
  peer.flushed = peer.flushed || message.flush;
  peer.verdicts.push_back(verdict);
  if (peer.verdicts.size() > kVerdictsKept) peer.verdicts.pop_front();
  clocks_.advance(from);
  answer(context, from, message.clock, verdict);
  peer.owed = true;
  release(context);
}

void GroupServer::answer(Context& context, ActorId to, std::uint64_t clock, Verdict verdict) const {
  (void)context.send(to, PushVerdict{generation_, group_, clock, verdict});  // lost: the push is repeated and answered again
}

void GroupServer::on(Context& context, ActorId from, const ParameterRequest& message) {
  const auto found = peers_.find(from);
  if (found == peers_.end() || message.generation != generation_) return;
  Peer& peer = found->second;
  if (!peer.chunks.empty()) return;  // under way
  peer.sent_version = message.has_version ? message.version : 0;
  if (!message.has_version) peer.values_wanted = true;
  peer.owed = true;
  release(context);
}

void GroupServer::tick(Context& context) {
  level_if_stuck(context);
  release(context);
}

/// Synchronous FC workers share the rounds of the CONV workers. One that had to split a round (a batch was lost, or went elsewhere while
/// the roster changed) counts a unit too many, and two such units would stop the cluster: it waits for FC workers that wait for CONV
/// workers that wait for it. The barrier is on the CONV side; so, where nothing moves, the FC clocks are made level again.
void GroupServer::level_if_stuck(Context& context) {
  if (group_ != Group::fc || context.now() - last_push_ < kStuckAfter) return;
  const bool waits =
      std::any_of(peers_.begin(), peers_.end(), [&](const auto& row) { return row.second.owed && !clocks_.admits_next(row.first); });
  if (!waits) return;
  clocks_.level();
  last_push_ = context.now();
  context.count("fc_clocks_levelled", 1);
}

void GroupServer::release(Context& context) {
  bool published = false;
  for (auto& [id, peer] : peers_) {
    while (!peer.chunks.empty() && context.post(id, peer.chunks.front()).ok()) peer.chunks.pop_front();
    if (!peer.owed || !peer.chunks.empty() || !clocks_.admits_next(id)) continue;
    if (!published && publication_due(id, peer)) {
      store_.publish();
      published = true;
    }
    peer.owed = !send_update(context, id, peer);
  }
}

/// One delta for a whole round costs a worker as much as one for a single push: so a compressed stream waits for a round's pushes. But a
/// read at pace c contains every push of pace c - s - 1 and before.
bool GroupServer::publication_due(ActorId reader, const Peer& peer) const {
  if (store_.lossless() || peer.values_wanted) return true;
  const std::uint64_t waiting = store_.version() - store_.published_version();
  if (waiting >= (publish_every_ == 0 ? std::max<std::size_t>(1, clocks_.active_count()) : publish_every_)) return true;
  const auto& slack = clocks_.bound().slack;
  return waiting > 0 && slack && oldest_unpublished_ + *slack < clocks_.pace(reader);
}

std::uint64_t GroupServer::admitted(ActorId to) const { return clocks_.admitted(to).value_or(ParameterUpdate::kNoBound); }

bool GroupServer::send_update(Context& context, ActorId to, Peer& peer) {
  ParameterUpdate update;
  update.generation = generation_;
  update.group = group_;
  update.applied_clock = clocks_.pushed(to);
  update.admitted_clock = admitted(to);
  update.frozen = store_.wants_momentum();
  update.from = peer.sent_version;
  if (peer.sent_version > store_.published_version()) return true;  // nonsense from the peer; its next push says more
  if (peer.values_wanted || (store_.lossless() && peer.sent_version != store_.published_version())) {
    update.absolute = true;
    update.deltas.push_back(store_.absolute());
  } else if (!store_.lossless()) {
    auto deltas = store_.deltas_since(peer.sent_version);
    if (!deltas.ok()) {
      queue_snapshot(to, peer);
      while (!peer.chunks.empty() && context.post(to, peer.chunks.front()).ok()) peer.chunks.pop_front();
      return true;
    }
    update.deltas = std::move(*deltas);
  }
  if (!context.send(to, update).ok()) return false;
  peer.sent_version = store_.published_version();
  peer.values_wanted = false;
  return true;
}

void GroupServer::queue_snapshot(ActorId to, Peer& peer) {
  constexpr std::size_t kChunk = limits::kChunkBytes / sizeof(float);
  const std::span<const float> values = store_.published();
  for (std::size_t offset = 0; offset < values.size(); offset += kChunk) {
    SnapshotChunk chunk;
    chunk.generation = generation_;
    chunk.group = group_;
    chunk.version = store_.published_version();
    chunk.applied_clock = clocks_.pushed(to);
    chunk.admitted_clock = admitted(to);
    chunk.total = values.size();
    chunk.offset = offset;
    chunk.values = to_bytes(values.subspan(offset, std::min(kChunk, values.size() - offset)));
    peer.chunks.push_back(pack(chunk));
  }
  peer.sent_version = store_.published_version();
}

void GroupServer::publish_final(Context& context) {
  store_.publish_exact();
  for (auto& [id, peer] : peers_) peer.owed = peer.values_wanted = true;
  release(context);
}

bool GroupServer::everybody_flushed() const {
  return std::all_of(peers_.begin(), peers_.end(), [](const auto& row) { return row.second.flushed; });
}

std::uint64_t GroupServer::version_sent(ActorId id) const {
  const auto found = peers_.find(id);
  return found == peers_.end() ? 0 : found->second.sent_version;
}

}  // namespace hourglass
