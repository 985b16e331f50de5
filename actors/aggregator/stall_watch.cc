// SPDX-License-Identifier: Apache-2.0
#include "actors/aggregator/stall_watch.h"

#include <cmath>

namespace hourglass {
namespace {
using namespace std::chrono_literals;
constexpr Duration kStalledAfter = 4s;
constexpr Duration kTellAgain = 60s;

std::string whole_seconds(Duration d) { return std::to_string(static_cast<long>(std::lround(seconds(d)))); }
}  // namespace

std::string StallWatch::look(Context& context, const GroupServer& group, const MemberTable& members) {
  const Instant now = context.now();
  if (group.ledger().received != received_ || !group.owes()) {
    received_ = group.ledger().received;
    since_ = now;
    return "";
  }
  if (now - since_ < kStalledAfter) return "";
  const params::ClockTable& clocks = group.clocks();
  std::string text;
  for (const ActorId id : group.members()) {
    const auto row = members.rows().find(id);
    if (row == members.rows().end() || !clocks.active(id) || clocks.pace(id) != clocks.slowest()) continue;
    const std::string step = std::to_string(clocks.pushed(id)), silence = whole_seconds(now - row->second.last_seen);
    text += (text.empty() ? "waiting for " : ", ") + row->second.member.name + " at step " + step + ", silent for " + silence + " s";
    const auto [told, first] = told_.try_emplace(id, now);
    if (!first && now - told->second < kTellAgain) continue;
    told->second = now;
    context.log(Severity::warning, "everybody waits for one",
                {{"peer", to_string(id)},
                 {"name", row->second.member.name},
                 {"step", step},
                 {"silent_seconds", silence},
                 {"no_push_for_seconds", whole_seconds(now - since_)}});
  }
  std::erase_if(told_, [&](const auto& each) { return !members.rows().contains(each.first); });
  return text;
}

}  // namespace hourglass
