// SPDX-License-Identifier: Apache-2.0
#include "actors/aggregator/checkpoints.h"

#include "actors/worker_state.h"

namespace hourglass {
namespace {
using namespace std::chrono_literals;

constexpr Duration kStatesWithin = 10s;     ///< then a checkpoint is made without those that have not come
constexpr Duration kLastStatesWithin = 2s;  ///< likewise, of the last one: somebody waits for the process to end

constexpr std::pair<Role, std::uint32_t> kOnlyFcWorker{Role::fc_worker, 0};

bool fc_alone(const Job& job) { return job.fc_workers == 1; }

}  // namespace

Status Checkpoints::go_on(Context& context, const RunParts& parts, const Job& job) {
  const auto note = [this](Context& at, ActorId from, const GradientPush& push, Verdict verdict) {
    recovery_.note(at, from, push, verdict);
  };
  parts.conv.set_note(note);
  if (parts.fc != nullptr) parts.fc->set_note(note);
  if (!recovery_.resumed()) return {};
  if (auto checkpoint = recovery_.take_checkpoint()) {
    if (const Status restored = restore(context, parts, *checkpoint); !restored.ok()) return restored;
    states_ = std::move(checkpoint->worker_states);
  }
  for (const JournalEntry& entry : recovery_.rolled_back()) {
    GroupServer* group = entry.group == Group::conv ? &parts.conv : parts.fc;
    if (group != nullptr) group->roll_back(entry.from, entry.clock, entry.verdict);
  }
  // What a worker held back is in what it has pushed since.
  const bool pushed = !recovery_.rolled_back().empty();
  std::erase_if(states_, [&](const auto& row) { return pushed && (row.first != kOnlyFcWorker || !fc_alone(job)); });
  return {};
}

void Checkpoints::look(Context& context, const RunParts& parts, const Job& job) {
  if (recovery_.due(context.now())) begin(context, parts, job, std::nullopt);
}

void Checkpoints::begin(Context& context, const RunParts& parts, const Job& job, std::optional<double> accuracy) {
  if (!recovery_.enabled()) return;
  if (accuracy) accuracy_ = accuracy;
  if (collection_.active()) return;
  recovery_.postpone(context.now());
  std::vector<ActorId> who;
  if (fc_alone(job)) who = parts.members.ids(Role::fc_worker);
  collection_.begin(context, who, recovery_.generation(), recovery_.next_number());
}

void Checkpoints::begin_last(Context& context, const std::vector<ActorId>& who) {
  collection_.begin(context, who, recovery_.generation(), recovery_.next_number());
}

/// The only FC worker's parameters go to the store, the rest of the states into the checkpoint.
void Checkpoints::keep(Context& context, const RunParts& parts, const Job& job, std::map<Place, Bytes>& told) {
  for (auto& [id, bytes] : collection_.end()) {
    const MemberTable::Row* row = parts.members.find(id);
    auto state = decode_worker_state(bytes);
    if (!state.ok())
      context.log(Severity::error, "a worker's state cannot be kept", {{"peer", to_string(id)}, {"cause", state.error().text}});
    if (row == nullptr || !state.ok()) continue;
    if (id.role == Role::fc_worker && fc_alone(job)) {
      if (state->parameters.size() != parts.fc->store().size() || state->version < parts.fc->store().version()) continue;
      parts.fc->store().replace(std::exchange(state->parameters, {}), state->version);
      states_[kOnlyFcWorker] = encode_worker_state(*state);
    } else {
      told[{id.role, row->member.number}] = std::move(bytes);
    }
  }
  if (const auto only = states_.find(kOnlyFcWorker); fc_alone(job) && only != states_.end()) told[kOnlyFcWorker] = only->second;
}

bool Checkpoints::end_if_due(Context& context, const RunParts& parts, const Job& job, Phase phase, const std::string& build) {
  if (!collection_.active()) return false;
  collection_.tick(context);
  const Duration limit = phase == Phase::pausing ? kLastStatesWithin : kStatesWithin;
  if (!collection_.complete() && context.now() - collection_.since() < limit) return false;
  if (!collection_.complete()) {
    context.count("states_missing", 1);
    context.log(Severity::warning, "a checkpoint is made without the state of a worker that does not answer", {});
  }
  std::map<Place, Bytes> told;
  keep(context, parts, job, told);
  Checkpoint checkpoint = capture(context, parts, job, phase);
  checkpoint.meta.build = build;
  checkpoint.meta.accuracy = std::exchange(accuracy_, std::nullopt);
  checkpoint.worker_states = std::move(told);
  (void)recovery_.save(context, std::move(checkpoint));
  return true;
}

const Bytes* Checkpoints::state_for(const MemberTable::Row& row, const RunParts& parts, const Job& job) {
  const ActorId id = row.member.id;
  const Place place{id.role, row.member.number};
  const auto state = states_.find(place);
  if (state == states_.end()) return nullptr;
  if (id.role == Role::fc_worker && fc_alone(job)) return &state->second;
  const GroupServer* group = id.role == Role::fc_worker ? parts.fc : &parts.conv;
  if (group == nullptr || group->marks(id)) return nullptr;
  return given_.try_emplace(place, id).first->second == id ? &state->second : nullptr;
}

}  // namespace hourglass
