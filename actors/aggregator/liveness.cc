// SPDX-License-Identifier: Apache-2.0
#include "actors/aggregator/liveness.h"

#include <utility>

#include "messages/heartbeat_reply.h"

namespace hourglass {
namespace {
using namespace std::chrono_literals;

constexpr Duration kLooksEvery = 1s;
constexpr Duration kPauseMin = 1s;
/// A dead process' connections are closed at once; one that merely connects again is back before the first, and TCP's own probes take
/// longer than the second to give a connection up.
constexpr Duration kHungUpAfter = 2500ms, kHungUpBefore = 4500ms;

/// Does a silent member's host say that nobody is there any more? Not so where a network is cut: there, connections stay for longer.
bool has_hung_up(Context& context, ActorId id, Duration silence, std::uint32_t generation) {
  if (silence < kHungUpAfter || silence > kHungUpBefore) return false;
  const Status sent = context.send(id, HeartbeatReply{generation});
  return !sent.ok() && sent.error().code == Errc::unreachable;
}

}  // namespace

std::vector<ActorId> Liveness::look(Context& context, MemberTable& members, Duration dead_after, std::uint32_t generation) {
  const Instant now = context.now();
  const Duration pause = now - std::exchange(looked_, now) - kLooksEvery;
  if (pause >= kPauseMin) {
    context.log(Severity::warning, "this process stood still", {{"seconds", std::to_string(seconds(pause))}});
    members.excuse(pause, now);
  }
  std::vector<ActorId> dead;
  for (const auto& [id, row] : members.rows()) {
    const Duration silence = now - row.last_seen;
    const bool silent = silence > dead_after;
    if (!silent && !has_hung_up(context, id, silence, generation)) continue;
    dead.push_back(id);
    context.count("members_lost", 1);
    context.log(Severity::warning, silent ? "member lost: no heartbeat" : "member lost: it has hung up",
                {{"peer", to_string(id)}, {"seconds", std::to_string(seconds(silence))}});
  }
  return dead;
}

}  // namespace hourglass
