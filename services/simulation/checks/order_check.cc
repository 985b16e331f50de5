// SPDX-License-Identifier: Apache-2.0
#include "services/simulation/checks/order_check.h"

#include <string>

namespace hourglass::checks {

void OrderCheck::rises(Instant now, const char* what, ActorId who, std::uint64_t& before, std::uint64_t now_is) {
  if (now_is < before) {
    violations_.add(
        now, "only forwards",
        std::string(what) + " of " + to_string(who) + " goes back from " + std::to_string(before) + " to " + std::to_string(now_is));
  }
  before = now_is;
}

void OrderCheck::traffic(Instant now, const Envelope& envelope, ActorId to) {
  const bool conv_link = envelope.from.role == Role::conv_worker || to.role == Role::conv_worker;
  if (conv_link && (envelope.traffic == Traffic::push_fc || envelope.traffic == Traffic::update_fc)) {
    violations_.add(now, "no FC bytes on CONV links", to_string(envelope.from) + " -> " + to_string(to));
  }
}

void OrderCheck::handles(ActorId member, const Welcome& welcome) {
  Member& row = members_[member];
  const auto key = [](const auto& of) { return std::tuple(of.generation, of.attempt, of.first_clock); };
  if (key(welcome) <= key(row) && row.generation != 0) return;  // a repeat, or one that it does not wait for any more
  std::erase_if(streams_, [member](const auto& stream) { return std::get<1>(stream.first) == member; });  // as a parent it begins anew
  row = {};
  row.generation = welcome.generation;
  row.attempt = welcome.attempt;
  row.first_clock = welcome.first_clock;
}

void OrderCheck::gone(ActorId id) {
  members_.erase(id);
  std::erase_if(streams_, [id](const auto& row) { return std::get<1>(row.first) == id || std::get<2>(row.first) == id; });
}

void OrderCheck::posts(Instant now, const Welcome& welcome) {
  std::uint64_t before = generation_;
  rises(now, "generation", kAggregator, before, welcome.generation);
  if (welcome.generation != generation_) roster_ = 0, phase_ = Phase::waiting;
  generation_ = welcome.generation;
}

void OrderCheck::posts(Instant now, const Roster& roster) { rises(now, "roster", kAggregator, roster_, roster.revision); }

void OrderCheck::posts(Instant now, const RunPhase& phase) {
  std::uint64_t before = order_of(phase_);
  rises(now, "phase", kAggregator, before, order_of(phase.phase));
  phase_ = phase.phase;
}

void OrderCheck::posts(Instant now, ActorId worker, const Activations& activations) {
  Member& row = members_[worker];
  if (activations.batch <= row.batch) return;  // a repeat
  row.batch = activations.batch;
  rises(now, "version", worker, row.conv_version, activations.conv_version);
  rises(now, "roster", worker, row.roster, activations.roster_revision);
}

void OrderCheck::posts(Instant now, ActorId child, const ParameterRequest& request) {
  generation(now, child, request.generation);
  rises(now, "version", child, members_[child].version[request.group], request.version);
}

void OrderCheck::posts(Instant now, ActorId parent, ActorId child, const ParameterUpdate& update) {
  Stream& stream = streams_[{update.group, parent, child}];
  if (update.generation != stream.generation) stream = {update.generation, 0};
  rises(now, "applied clock", child, stream.applied, update.applied_clock);
}

void OrderCheck::generation(Instant now, ActorId member, std::uint32_t generation) {
  if (const std::uint32_t own = members_[member].generation; generation != own) {
    violations_.add(
        now, "generation",
        to_string(member) + " was welcomed to generation " + std::to_string(own) + " and speaks of " + std::to_string(generation));
  }
}

}  // namespace hourglass::checks
