// SPDX-License-Identifier: Apache-2.0
// What may only rise rises, for each observer: generations, phases, rosters, versions, clocks; and who may hear what.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "messages/all_messages.h"
#include "messages/envelope.h"
#include "services/simulation/checks/violations.h"

namespace hourglass::checks {

class OrderCheck {
 public:
  explicit OrderCheck(Violations& violations) : violations_(violations) {}

  /// FC parameters and their gradients never touch a CONV worker.
  void traffic(Instant now, const Envelope& envelope, ActorId to);
  void handles(ActorId member, const Welcome& welcome);
  void posts(Instant now, const Welcome& welcome);
  void posts(Instant now, const Roster& roster);
  void posts(Instant now, const RunPhase& phase);
  void posts(Instant now, ActorId worker, const Activations& activations);
  void posts(Instant now, ActorId child, const ParameterRequest& request);
  void posts(Instant now, ActorId parent, ActorId child, const ParameterUpdate& update);
  /// Of a member's message: the generation that it was welcomed to, and no other.
  void generation(Instant now, ActorId member, std::uint32_t generation);
  /// A process has ended: its successor under the same id, if any, begins anew.
  void gone(ActorId id);

 private:
  struct Member {
    std::uint32_t generation = 0, attempt = 0;
    std::uint64_t first_clock = 0;
    std::map<Group, std::uint64_t> version;  ///< that it has said it has
    std::uint64_t batch = 0, conv_version = 0, roster = 0;
  };
  struct Stream {
    std::uint32_t generation = 0;
    std::uint64_t applied = 0;
  };
  void rises(Instant now, const char* what, ActorId who, std::uint64_t& before, std::uint64_t now_is);

  Violations& violations_;
  std::uint32_t generation_ = 0;
  std::uint64_t roster_ = 0;
  Phase phase_ = Phase::waiting;
  std::map<ActorId, Member> members_;
  std::map<std::tuple<Group, ActorId, ActorId>, Stream> streams_;  ///< by parent and child
};

}  // namespace hourglass::checks
