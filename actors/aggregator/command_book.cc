// SPDX-License-Identifier: Apache-2.0
#include "actors/aggregator/command_book.h"

namespace hourglass {

void CommandBook::take(Context& context, ActorId from, const RunCommand& command, const std::function<std::string(Order)>& carry_out) {
  CommandReply& newest = newest_[from];
  if (command.sequence < newest.sequence) return;  // overtaken by one that it sent after the answer to this one
  if (command.sequence > newest.sequence) {
    const std::string refused = carry_out(command.order);
    newest = {command.sequence, refused.empty(), refused};
    context.log(refused.empty() ? Severity::info : Severity::warning, refused.empty() ? "command" : "command refused",
                {{"command", std::string(name_of(command.order))}, {"from", to_string(from)}, {"cause", refused}});
  }
  (void)context.send(from, newest);  // lost: the command is repeated
}

}  // namespace hourglass
