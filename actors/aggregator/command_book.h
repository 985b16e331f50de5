// SPDX-License-Identifier: Apache-2.0
// What each monitor has asked for last and what it was answered: a command that is repeated is answered again, and not carried out again.
#pragma once

#include <functional>
#include <map>

#include "messages/command_reply.h"
#include "messages/run_command.h"
#include "runtime/context.h"

namespace hourglass {

class CommandBook {
 public:
  /// Carries out what is new; answers also what is repeated. Why it cannot be done: the text of `carry_out`, empty where it was.
  void take(Context& context, ActorId from, const RunCommand& command, const std::function<std::string(Order)>& carry_out);
  void forget(ActorId monitor) { newest_.erase(monitor); }

 private:
  std::map<ActorId, CommandReply> newest_;
};

}  // namespace hourglass
