// SPDX-License-Identifier: Apache-2.0
#include "actors/command_post.h"

#include <algorithm>

namespace hourglass {

CommandState* CommandPost::pending() {
  const auto found = std::ranges::find(all_, CommandFate::sent, &CommandState::fate);
  return found == all_.end() ? nullptr : &*found;
}

bool CommandPost::look(Context& context, std::uint32_t generation, bool joined) {
  bool news = false;
  if (source_ != nullptr && pending() == nullptr) {
    for (const AskedCommand& asked : source_->take_commands()) {
      all_.push_back({asked, CommandFate::sent, ""});
      news = true;
    }
  }
  while (all_.size() > kKept && all_.front().fate != CommandFate::sent) all_.pop_front();
  if (CommandState* next = pending()) {
    const Instant now = context.now();
    if (sending_ != next->asked.sequence) {
      sending_ = next->asked.sequence;
      first_sent_ = now;
      sent_ = now - kRepeat;
    }
    if (now - first_sent_ >= kPatience) {
      next->fate = CommandFate::unanswered;
      next->text = "the aggregator has not answered";
      news = true;
    } else if (joined && now - sent_ >= kRepeat) {
      sent_ = now;
      (void)context.send(kAggregator, RunCommand{generation, next->asked.sequence, next->asked.order});
    }
  }
  if (news) tell();
  return news;
}

bool CommandPost::on(const CommandReply& reply) {
  CommandState* waiting = pending();
  if (waiting == nullptr || waiting->asked.sequence != reply.sequence) return false;
  waiting->fate = reply.accepted ? CommandFate::done : CommandFate::refused;
  waiting->text = reply.text;
  tell();
  return true;
}

}  // namespace hourglass
