// SPDX-License-Identifier: Apache-2.0
// What of a group's server outlives its process.
#include <algorithm>

#include "actors/group_server.h"
#include "base/mutant.h"

namespace hourglass {
namespace {
constexpr std::uint64_t kMarksMax = 16 * limits::kMembers;
}

/// Bit i: the verdict i before the newest was a rejection.
template <class Store>
std::uint64_t BasicGroupServer<Store>::rejected_of(const std::deque<Verdict>& verdicts) {
  std::uint64_t out = 0;
  for (std::size_t age = 0; age < std::min<std::size_t>(verdicts.size(), 64); ++age) {
    if (verdicts[verdicts.size() - 1 - age] != Verdict::applied) out |= std::uint64_t{1} << age;
  }
  return out;
}

template <class Store>
std::optional<params::PushMarks> BasicGroupServer<Store>::marks(ActorId id) const {
  const auto before = departed_.find(id);
  return before == departed_.end() ? std::nullopt : before->second.marks;
}

template <class Store>
void BasicGroupServer<Store>::save(ArchiveWriter& out) const {
  out.put(ledger_.received);
  out.put_all(std::span<const std::uint64_t>(ledger_.by_verdict));
  out.put(ledger_.rolled_back);
  out.put(ledger_.duplicates);
  out.put(ledger_.gaps);
  out.put(ledger_.staleness_max);
  out.put(ledger_.staleness_sum);
  out.put_all(std::span<const std::uint64_t>(ledger_.staleness_counts));
  std::map<ActorId, params::PushMarks> marks;
  for (const auto& [id, departed] : departed_) {
    if (departed.marks) marks[id] = *departed.marks;
  }
  for (const auto& [id, peer] : peers_) marks[id] = {clocks_.pushed(id), rejected_of(peer.verdicts)};
  if (mutant(Mutant::marks_forgotten)) marks.clear();
  out.put(static_cast<std::uint64_t>(marks.size()));
  for (const auto& [id, mark] : marks) {
    out.put(id.role);
    out.put(id.index);
    out.put(mark.contained);
    out.put(mark.rejected);
  }
}

template <class Store>
void BasicGroupServer<Store>::load(ArchiveReader& in) {
  in.get(ledger_.received);
  in.get_into(ledger_.by_verdict);
  in.get(ledger_.rolled_back);
  in.get(ledger_.duplicates);
  in.get(ledger_.gaps);
  in.get(ledger_.staleness_max);
  in.get(ledger_.staleness_sum);
  ledger_.staleness_counts = in.get_all<std::uint64_t>();
  const auto count = in.get_up_to<std::uint64_t>(kMarksMax);
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    ActorId id;
    id.role = static_cast<Role>(in.get_up_to<std::uint8_t>(kRoles - 1));
    in.get(id.index);
    params::PushMarks mark;
    in.get(mark.contained);
    in.get(mark.rejected);
    departed_[id] = {mark.contained + kVerdictsKept, {}, mark};
  }
}

template <class Store>
void BasicGroupServer<Store>::roll_back(ActorId id, std::uint64_t clock, Verdict verdict) {
  ++ledger_.received;
  if (verdict == Verdict::applied) {
    ++ledger_.rolled_back;
  } else {
    ++ledger_.by_verdict[static_cast<std::size_t>(verdict)];
  }
  Departed& departed = departed_[id];
  if (!departed.marks) departed.marks.emplace();  // it joined after the checkpoint: none of its pushes is contained
  departed.pushed = std::max(departed.pushed, clock + 1 + kVerdictsKept);
}

template std::uint64_t BasicGroupServer<params::ParameterStore>::rejected_of(const std::deque<Verdict>&);
template std::uint64_t BasicGroupServer<params::Relay>::rejected_of(const std::deque<Verdict>&);
template std::optional<params::PushMarks> BasicGroupServer<params::ParameterStore>::marks(ActorId) const;
template void BasicGroupServer<params::ParameterStore>::save(ArchiveWriter&) const;
template void BasicGroupServer<params::ParameterStore>::load(ArchiveReader&);
template void BasicGroupServer<params::ParameterStore>::roll_back(ActorId, std::uint64_t, Verdict);

}  // namespace hourglass
