// SPDX-License-Identifier: Apache-2.0
// The side of membership that every actor but the aggregator has: join, follow roster and phase, report metrics, leave.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "messages/all_messages.h"
#include "runtime/context.h"
#include "runtime/process_identity.h"

namespace hourglass {

/// Owned by an actor, which forwards start, its wakes, and the messages below. Timer numbers from kTimerFirst up are taken.
class MembershipClient {
 public:
  static constexpr std::uint32_t kTimerFirst = 0xF0000000;
  /// `reach`: roles that this actor opens connections to (monitors are always among them).
  MembershipClient(ProcessIdentity identity, std::set<Role> reach);

  void start(Context& context);
  /// True where the timer was one of ours.
  bool wake(Context& context, std::uint32_t timer);

  /// True when this process has become a member, for the first time or of a new generation: the actor begins afresh.
  bool on(Context& context, Welcome&& message);
  void on(Context& context, const Refuse& message);
  /// True when the roster is newer than the one at hand.
  bool on(Context& context, Roster&& message);
  /// True when the phase is another one, or people have paused it or let it go on.
  bool on(Context& context, const RunPhase& message);
  void on(Context& context, const HeartbeatReply& message);

  /// The last report and Goodbye; then the process ends with `code`.
  void leave(Context& context, ExitCode code, const std::string& reason);

  [[nodiscard]] bool joined() const { return joined_; }
  /// The newest one: it stays while this process, dropped, asks to join again.
  [[nodiscard]] const Welcome& welcome() const { return *welcome_; }
  [[nodiscard]] const Job& job() const { return welcome_->job; }
  [[nodiscard]] std::uint32_t generation() const { return welcome_ ? welcome_->generation : 0; }
  [[nodiscard]] Phase phase() const { return phase_; }
  [[nodiscard]] bool held() const { return held_; }  ///< people have paused the run
  [[nodiscard]] const Roster& roster() const { return roster_; }
  [[nodiscard]] const Member* find(ActorId id) const;
  /// Members of a role, ordered by their numbers.
  [[nodiscard]] std::vector<Member> members(Role role) const;

 private:
  void say_hello(Context& context);
  void join_again(Context& context);
  void report(Context& context, bool last);
  void heard(Context& context) { last_heard_ = context.now(); }

  ProcessIdentity identity_;
  std::set<Role> reach_;
  std::optional<Welcome> welcome_;
  bool joined_ = false;
  Roster roster_;
  Phase phase_ = Phase::waiting;
  bool held_ = false;
  std::set<ActorId> introduced_;
  std::uint32_t attempt_ = 0;
  std::uint64_t reports_ = 0;
  Instant started_{};
  Instant last_heard_{};
  Duration hello_pause_{};
  bool left_ = false;
};

}  // namespace hourglass
