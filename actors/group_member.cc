// SPDX-License-Identifier: Apache-2.0
#include "actors/group_member.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/mutant.h"

namespace hourglass {
namespace {
constexpr Duration kRequestAfter = std::chrono::seconds(3);
}  // namespace

template <class Replica>
BasicGroupMember<Replica>::BasicGroupMember(Group group, Replica replica, const Welcome& welcome)
    : group_(group),
      replica_(std::forward<Replica>(replica)),
      run_(welcome.run),
      generation_(welcome.generation),
      clock_(welcome.first_clock),
      applied_clock_(welcome.first_clock) {}

template <class Replica>
void BasicGroupMember<Replica>::start(Context& context, ActorId parent) {
  parent_ = parent;
  await_update(context);
}

template <class Replica>
void BasicGroupMember<Replica>::follow(Context& context, ActorId parent, bool gone) {
  if (!parent_) return start(context, parent);
  next_parent_.reset();
  if (parent == *parent_) return;
  if (gone || unsettled_.empty()) return move(context, parent);
  ready_ = false;
  next_parent_ = parent;
}

template <class Replica>
void BasicGroupMember<Replica>::move(Context& context, ActorId parent) {
  context.log(Severity::info, "another parent", {{"old", to_string(*parent_)}, {"new", to_string(parent)}});
  context.count("parents_changed", 1);
  parent_ = parent;
  next_parent_.reset();
  snapshot_.reset();
  refused_ = false;
  moved_ = true;
  resend_ = !unsettled_.empty();
  await_update(context);
}

template <class Replica>
void BasicGroupMember<Replica>::post_waiting(Context& context) {
  for (Open& open : unsettled_) {
    if (open.posted) continue;
    if (!context.post(*parent_, open.parcel).ok()) return;  // out of reach, or no room: tick() tries again
    open.posted = true;
    open.sent = context.now();
  }
}

/// Large ones with patience, at first the oldest alone: the next ones are taken after it, in order, and may be under way.
template <class Replica>
void BasicGroupMember<Replica>::repeat_overdue(Context& context) {
  if (unsettled_.empty() || !unsettled_.front().posted) return;
  const bool large = unsettled_.front().parcel.body->size() >= LargeUpdate::kLarge;
  const Instant since = large ? std::max(unsettled_.front().sent, last_verdict_) : unsettled_.front().sent;
  if (context.now() - since < (large ? push_patience_.limit() : Patience::kLeast)) return;
  // Tells the parent to expect no earlier one: a tree node that was lost and joined again has forgotten what it had.
  if (moved_ || parent_->role == Role::tree_node) request(context);
  push_patience_.in_vain();
  const bool again = !large || unsettled_.front().repeated;
  for (Open& open : unsettled_) {
    if (!open.posted || !context.post(*parent_, open.parcel).ok()) return;
    open.repeated = true;
    open.sent = context.now();
    context.count("pushes_repeated", 1);
    if (!again) return;
  }
}

template <class Replica>
void BasicGroupMember<Replica>::send_unsettled(Context& context) {
  for (Open& open : unsettled_) {
    open.posted = false;
    open.repeated = true;
    context.count("pushes_repeated", 1);
  }
  post_waiting(context);
}

template <class Replica>
void BasicGroupMember<Replica>::await_update(Context& context) {
  ready_ = false;
  request(context);
}

template <class Replica>
void BasicGroupMember<Replica>::request(Context& context) {
  last_word_ = context.now();
  if (!parent_) return;  // follow() asks
  // After the flush only the values themselves will do: a chain of deltas leaves out what the aggregator's residual holds.
  const bool deltas_do = !flush_made_ || exact_;
  const std::uint64_t open = unsettled_.empty() ? clock_ : unsettled_.front().clock;
  const bool flushed = flush_made_ && unsettled_.empty();
  // Repeated by tick().
  (void)context.send(*parent_, ParameterRequest{generation_, group_, deltas_do, replica_.version(), open, flushed});
}

template <class Replica>
bool BasicGroupMember<Replica>::admits(std::uint64_t unit) const {
  return ready_ && unit <= admitted_ && (!full() || mutant(Mutant::window_ignored));
}

template <class Replica>
bool BasicGroupMember<Replica>::full() const {
  return unsettled_.size() >= kPushWindow || (!unsettled_.empty() && clock_ - unsettled_.front().clock >= kClockWindow);
}

template <class Replica>
bool BasicGroupMember<Replica>::push(Context& context, std::uint64_t base_version, std::uint32_t samples, double progress, bool flush,
                                     bool flush_residual, Gathered gathered) {
  auto blocks = replica_.push(clock_, flush, flush_residual);
  if (!blocks.ok()) {
    context.count("steps_nonfinite", 1);
    context.log(Severity::error, "local steps are not finite and were dropped", {{"cause", blocks.error().text}});
    return false;
  }
  GradientPush message;
  message.run = run_;
  message.generation = generation_;
  message.group = group_;
  message.clock = clock_++;
  message.base_version = base_version;
  message.samples = samples;
  message.progress = progress;
  message.momentum = frozen_;
  message.flush = flush;
  message.workers = gathered.workers;
  message.gradient_variance = gathered.noise.variance;
  message.gradient_norm_squared = gathered.noise.norm_squared;
  message.carried = std::move(gathered.carried);
  message.blocks = std::move(*blocks);
  flush_made_ = flush_made_ || flush;
  exact_ = false;
  unsettled_.push_back({message.clock, pack(message)});
  last_word_ = context.now();
  if (parent_) post_waiting(context);
  context.count("pushes", 1);
  return true;
}

template <class Replica>
std::optional<std::uint64_t> BasicGroupMember<Replica>::on(Context& context, const PushVerdict& message) {
  if (message.generation != generation_ || message.group != group_) return std::nullopt;
  auto open = std::find_if(unsettled_.begin(), unsettled_.end(), [&](const Open& o) { return o.clock == message.clock; });
  if (open == unsettled_.end() && mutant(Mutant::stray_verdict_settles)) open = unsettled_.begin();
  if (open == unsettled_.end()) return std::nullopt;
  const std::uint64_t clock = open->clock;
  if (!open->repeated) push_patience_.answered(context.now() - open->sent);
  unsettled_.erase(open);
  last_verdict_ = context.now();
  replica_.settle(clock, message.verdict);
  context.count("pushes_" + std::string(name_of(message.verdict)), 1);
  if (message.verdict != Verdict::applied) {
    context.log(Severity::warning, "push rejected; its content returns to the residual",
                {{"reason", std::string(name_of(message.verdict))}});
  }
  if (message.verdict == Verdict::moved) {  // its roster is newer than ours, or it leaves
    ready_ = exact_ = flush_made_ = false;
    refused_ = true;
  }
  if (next_parent_ && unsettled_.empty()) move(context, *next_parent_);
  return clock;
}

template <class Replica>
void BasicGroupMember<Replica>::took(Context& context, std::uint64_t applied, std::uint64_t admitted) {
  last_word_ = context.now();
  ready_ = !next_parent_;
  refused_ = false;
  if (std::exchange(resend_, false)) send_unsettled(context);
  applied_clock_ = std::max(applied_clock_, applied);
  admitted_ = admitted;
  context.gauge("version", static_cast<double>(replica_.version()));
  context.gauge("clock", static_cast<double>(clock_));
}

template <class Replica>
bool BasicGroupMember<Replica>::on(Context& context, ActorId from, const ParameterUpdate& message) {
  if (from != parent_ || message.generation != generation_ || message.group != group_) return false;
  const Status status = replica_.absorb(message);
  if (!status.ok()) {
    context.count(status.error().code == Errc::too_stale ? "updates_with_gap" : "updates_invalid", 1);
    request(context);
    return false;
  }
  if (message.frozen && !frozen_) {
    frozen_ = true;
    replica_.end_warmup();
  }
  if (!message.deltas.empty()) exact_ = message.absolute;
  took(context, message.applied_clock, message.admitted_clock);
  return true;
}

template <class Replica>
bool BasicGroupMember<Replica>::on(Context& context, ActorId from, SnapshotChunk&& message) {
  if (from != parent_ || message.generation != generation_ || message.group != group_) return false;
  const std::size_t count = message.values.size() / sizeof(float);
  if (message.total != replica_.size() || message.offset + count > message.total || message.values.size() % sizeof(float) != 0) {
    context.count("updates_invalid", 1);
    return false;
  }
  last_word_ = context.now();
  if (!snapshot_ || snapshot_->version != message.version || message.offset == 0) {
    snapshot_.emplace();
    snapshot_->version = message.version;
    snapshot_->values.resize(message.total);
  }
  if (message.offset != snapshot_->filled) {  // a chunk is missing: ask again from the start
    snapshot_.reset();
    request(context);
    return false;
  }
  std::memcpy(snapshot_->values.data() + message.offset, message.values.data(), message.values.size());
  snapshot_->filled += count;
  if (snapshot_->filled < message.total) return false;
  const Status status = replica_.absorb(snapshot_->values, message.version, message.applied_clock);
  HG_CHECK(status.ok(), "a complete snapshot has the group's size");
  snapshot_.reset();
  exact_ = true;
  took(context, message.applied_clock, message.admitted_clock);
  context.count("snapshots", 1);
  return true;
}

template <class Replica>
void BasicGroupMember<Replica>::tick(Context& context, bool waiting) {
  if (!parent_) return;
  post_waiting(context);
  repeat_overdue(context);
  // Blocked by the bound, or never answered: say where we are. The aggregator answers when the bound admits.
  // What is under way already it does not send again.
  if (context.now() - last_word_ >= kRequestAfter && (!ready_ || clock_ > admitted_ || flush_made_ || waiting)) request(context);
}

template class BasicGroupMember<params::Replica>;
template class BasicGroupMember<params::Relay&>;

}  // namespace hourglass
