// SPDX-License-Identifier: Apache-2.0
#include "services/simulation/checks/push_check.h"

#include <algorithm>

#include "actors/group_member.h"

namespace hourglass::checks {
namespace {
constexpr std::size_t kOwnVersionsKept = 64;

std::string push_name(ActorId child, Group group, std::uint64_t clock) {
  return std::string(group == Group::conv ? "conv" : "fc") + " push " + std::to_string(clock) + " of " + to_string(child);
}
}  // namespace

void PushCheck::posts(Instant now, ActorId to, const Welcome& welcome, bool journal_whole) {
  if (welcome.generation != generation_) {
    restarted_ = generation_ != 0;  // what it rolled back, no message tells: its versions may be fewer than counted here, never more
    generation_ = welcome.generation;
    conv_.own_versions.clear();
    fc_.own_versions.clear();
    first_clocks_.clear();
  }
  const auto [first, fresh] = first_clocks_.try_emplace(to, welcome.first_clock);
  if (!fresh && first->second == welcome.first_clock) return;
  first->second = welcome.first_clock;  // it joins, perhaps anew
  conv_paces_.forget(to);
  fc_paces_.forget(to);
  if (to.role == Role::fc_worker || to.role == Role::conv_worker) {
    const Group group = to.role == Role::fc_worker ? Group::fc : Group::conv;
    next_[{generation_, group, kAggregator, to}] = welcome.first_clock;
    const auto decided = decided_below_.find({group, to});
    if (!tree() && journal_whole && decided != decided_below_.end() && welcome.first_clock < decided->second) {
      violations_.add(now, "clocks of several lives",
                      to_string(to) + " is to begin at clock " + std::to_string(welcome.first_clock) + "; its pushes below " +
                          std::to_string(decided->second) + " were decided");
    }
  }
}

void PushCheck::posts(const Roster& roster) {
  conv_paces_.follow(roster);
  fc_paces_.follow(roster);
}

void PushCheck::posts(Instant now, ActorId child, const GradientPush& push) {
  auto& open = open_[{push.group, child}];
  auto& [generation, next] = newest_[{push.group, child}];
  if (generation != push.generation) open.clear(), flushed_.erase(child), next = 0, generation = push.generation;
  if (push.clock < next && !open.contains(push.clock)) {
    violations_.add(now, "settled once", push_name(child, push.group, push.clock) + " is sent again although its verdict has come");
  }
  if (push.clock < next) return;  // a repeat
  if (push.clock > next && next != 0 && !tree() && push.clock < next + BasicGroupMember<params::Replica>::kPushWindow) {
    violations_.add(now, "clocks without gaps", push_name(child, push.group, push.clock) + " follows " + std::to_string(next));
  }
  if (push.clock > next) open.clear(), flushed_.erase(child);  // it has joined anew: earlier ones are void
  if (child.role == Role::conv_worker && push.flush) flushed_[child] = push.clock;
  if (const auto flush = flushed_.find(child); flush != flushed_.end() && !push.flush) {
    violations_.add(now, "flush is last",
                    push_name(child, push.group, push.clock) + " comes after its flush, " + std::to_string(flush->second));
  }
  next = push.clock + 1;
  open[push.clock] = push.samples;
  const std::size_t most = GroupMember::kPushWindow + job_.outstanding + 2;  // units under way when the window closed, and a flush
  if (open.size() > most) {
    violations_.add(now, "push window", to_string(child) + " has " + std::to_string(open.size()) + " pushes without a verdict");
  }
}

void PushCheck::handles(ActorId child, const PushVerdict& verdict) {
  auto& open = open_[{verdict.group, child}];
  const auto found = open.find(verdict.clock);
  if (found == open.end() || verdict.generation != newest_[{verdict.group, child}].first) return;
  if (verdict.group == Group::conv) settled_samples_[child] += found->second;
  if (verdict.verdict == Verdict::moved) flushed_.erase(child);  // it goes on under another parent
  open.erase(found);
}

void PushCheck::handles(ActorId member, const Welcome& welcome) {
  if (member.role != Role::tree_node) return;
  const std::tuple now{welcome.generation, welcome.first_clock};
  const auto [joined, fresh] = nodes_joined_.try_emplace(member, now);
  if (!fresh && now <= joined->second) return;
  joined->second = now;
  std::erase_if(next_, [member](const auto& row) { return std::get<2>(row.first) == member; });
  std::erase_if(decided_, [member](const auto& row) { return std::get<2>(row.first) == member; });
}

std::uint64_t PushCheck::settled_samples(ActorId worker) const {
  const auto found = settled_samples_.find(worker);
  return found == settled_samples_.end() ? 0 : found->second;
}

void PushCheck::handles(Instant now, ActorId parent, ActorId child, const GradientPush& push) {
  handled_ = Handled{parent, child, push, now};
}

void PushCheck::posts(Instant now, ActorId parent, ActorId child, const PushVerdict& verdict) {
  const auto [row, fresh] = decided_.try_emplace({verdict.generation, verdict.group, parent, child, verdict.clock}, verdict.verdict);
  if (fresh) return decide(now, parent, child, verdict);
  if (row->second != verdict.verdict) {
    violations_.add(now, "one verdict",
                    push_name(child, verdict.group, verdict.clock) + " was " + std::string(name_of(row->second)) + " and is now " +
                        std::string(name_of(verdict.verdict)));
  }
}

void PushCheck::decide(Instant now, ActorId parent, ActorId child, const PushVerdict& verdict) {
  const bool here = handled_ && handled_->parent == parent && handled_->child == child && handled_->at == now &&
                    handled_->push.group == verdict.group && handled_->push.clock == verdict.clock;
  if (!here) {
    return violations_.add(now, "one verdict", push_name(child, verdict.group, verdict.clock) + " is answered without having come");
  }
  in_order(now, parent, child, verdict);
  if (parent != kAggregator || (tree() && verdict.verdict == Verdict::moved)) return;
  const GradientPush& push = handled_->push;
  if (push.generation != verdict.generation || push.generation != generation_) {
    violations_.add(now, "generation",
                    push_name(child, push.group, push.clock) + " of generation " + std::to_string(push.generation) +
                        " is decided in generation " + std::to_string(generation_));
  }
  decided_below_[{push.group, child}] = std::max(decided_below_[{push.group, child}], push.clock + 1);
  Ours& ours = of(push.group);
  ++ours.books.received;
  ++ours.books.by_verdict[verdict.verdict];
  if (verdict.verdict == Verdict::applied) {
    if (!push.flush) within_bound(now, child, push);
    ++ours.books.versions;
    auto& own = ours.own_versions[child];
    own.push_back(ours.books.versions);
    if (own.size() > kOwnVersionsKept) own.pop_front();
  }
  (push.group == Group::conv ? conv_paces_ : fc_paces_).advance(child);
}

void PushCheck::in_order(Instant now, ActorId parent, ActorId child, const PushVerdict& verdict) {
  std::uint64_t& next = next_.try_emplace({verdict.generation, verdict.group, parent, child}, verdict.clock).first->second;
  // In a tree another parent may have settled what lies between, and a parent may know of an earlier one from a node that is gone.
  if (verdict.clock != next && !tree()) {
    violations_.add(now, "clock order",
                    push_name(child, verdict.group, verdict.clock) + " is taken where " + std::to_string(next) + " is due");
  }
  next = std::max(next, verdict.clock + 1);
}

void PushCheck::within_bound(Instant now, ActorId child, const GradientPush& push) {
  if (job_.staleness == kUnlimited || tree()) return;
  // FC workers' rounds have no bound of their own but in synchronous mode; a unit of several steps may span two of the CONV workers'.
  if (push.group == Group::fc && (fc_alone() || job_.staleness > 0 || job_.local_steps > 1)) return;
  const auto slack = static_cast<std::uint64_t>(job_.staleness);
  const Paces& paces = push.group == Group::conv ? conv_paces_ : fc_paces_;
  if (const auto pace = paces.pace(child); pace && push.group == Group::conv) {
    const std::uint64_t gap = *pace - std::min(*pace, paces.slowest());
    widest_gap_ = std::max(widest_gap_, gap);
    if (gap > slack) {
      violations_.add(now, "staleness bound",
                      push_name(child, push.group, push.clock) + " runs " + std::to_string(gap) +
                          " clocks ahead of the slowest; the bound is " + std::to_string(slack));
    }
  }
  if (restarted_) return;
  const Ours& ours = of(push.group);
  std::uint64_t own = 0;
  if (const auto mine = ours.own_versions.find(child); mine != ours.own_versions.end()) {
    own = static_cast<std::uint64_t>(
        std::count_if(mine->second.begin(), mine->second.end(), [&](std::uint64_t version) { return version > push.base_version; }));
  }
  const std::uint64_t since = ours.books.versions - std::min(ours.books.versions, push.base_version);
  const std::uint64_t most = (2 * slack + 1) * (std::max<std::size_t>(paces.active_max(), 1) - 1);
  if (since - std::min(since, own) > most) {
    violations_.add(now, "version staleness",
                    push_name(child, push.group, push.clock) + " is applied " + std::to_string(since - own) +
                        " versions of others after its read; (2s+1)(P-1) is " + std::to_string(most));
  }
}

void PushCheck::no_later_than_counted(Instant now, Group group, std::uint64_t version) {
  if (group == Group::fc && fc_alone()) return;  // its only worker counts
  const std::uint64_t counted = of(group).books.versions;
  if (version > counted) {
    violations_.add(now, "exactly once",
                    "version " + std::to_string(version) + " is published after " + std::to_string(counted) + " pushes were applied");
  }
}

void PushCheck::posts(Instant now, const ParameterUpdate& update) {
  if (!update.deltas.empty()) no_later_than_counted(now, update.group, update.deltas.back().to);
}
void PushCheck::posts(Instant now, const SnapshotChunk& chunk) { no_later_than_counted(now, chunk.group, chunk.version); }

}  // namespace hourglass::checks
