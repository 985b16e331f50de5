// SPDX-License-Identifier: Apache-2.0
// Takes people's commands from wherever they are given to the aggregator: one after the other, each repeated until it is answered.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "messages/command_reply.h"
#include "messages/run_command.h"
#include "runtime/context.h"

namespace hourglass {

struct AskedCommand {
  std::uint64_t sequence = 0;  ///< from 1, rises
  Order order = Order::pause;
};

/// Where people give commands. Called from the actor's thread; must return at once.
class CommandSource {
 public:
  virtual ~CommandSource() = default;
  /// The commands given since the last call, the oldest first. Called when those of the call before are settled: a source bounds what
  /// waits.
  virtual std::deque<AskedCommand> take_commands() = 0;
};

enum class CommandFate : std::uint8_t { sent, done, refused, unanswered };
constexpr std::string_view name_of(CommandFate fate) {
  constexpr std::string_view kNames[] = {"sent", "done", "refused", "unanswered"};
  return kNames[static_cast<std::size_t>(fate)];
}

struct CommandState {
  AskedCommand asked;
  CommandFate fate = CommandFate::sent;
  std::string text;  ///< why it was refused
};

class CommandPost {
 public:
  static constexpr std::size_t kKept = 16;  ///< the newest, and whatever is not settled
  static constexpr Duration kRepeat = std::chrono::seconds(1);
  static constexpr Duration kPatience = std::chrono::seconds(30);

  /// `source` may be null: nobody gives commands.
  explicit CommandPost(CommandSource* source) : source_(source) {}

  /// Some times a second. True where something has changed.
  bool look(Context& context, std::uint32_t generation, bool joined);
  /// True where it answers a command that waited.
  bool on(const CommandReply& reply);
  /// Never null; the oldest first.
  [[nodiscard]] std::shared_ptr<const std::deque<CommandState>> states() const { return states_; }

 private:
  CommandState* pending();
  void tell() { states_ = std::make_shared<const std::deque<CommandState>>(all_); }

  CommandSource* source_;
  std::deque<CommandState> all_;
  Instant first_sent_{}, sent_{};
  std::uint64_t sending_ = 0;  ///< whose times these are
  std::shared_ptr<const std::deque<CommandState>> states_ = std::make_shared<const std::deque<CommandState>>();
};

}  // namespace hourglass
