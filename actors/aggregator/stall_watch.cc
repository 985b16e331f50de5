// SPDX-License-Identifier: Apache-2.0
#include "actors/aggregator/stall_watch.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

namespace hourglass {
namespace {
using namespace std::chrono_literals;
constexpr Duration kStalledAfter = 4s;
constexpr Duration kTellAgain = 60s;

std::string whole_seconds(Duration d) { return std::to_string(static_cast<long>(std::lround(seconds(d)))); }
}  // namespace

std::string StallWatch::look(Context& context, const GroupServer& group, const MemberTable& members) {
  const Instant now = context.now();
  if (group.ledger().received != received_) {
    received_ = group.ledger().received;
    since_ = now;
  }
  if (now - since_ < kStalledAfter) return "";
  const params::ClockTable& clocks = group.clocks();
  const std::vector<ActorId> steppers = group.members();
  std::vector<ActorId> awaited;
  for (const auto& [id, row] : members.rows()) {
    if (id.role != Role::monitor && now - row.last_seen >= kStalledAfter) awaited.push_back(id);
  }
  if (awaited.empty() && group.owes()) {
    std::ranges::copy_if(steppers, std::back_inserter(awaited), [&](ActorId id) {
      return members.rows().contains(id) && clocks.active(id) && clocks.pace(id) == clocks.slowest();
    });
  }
  std::string text;
  for (const ActorId id : awaited) {
    const MemberTable::Row& row = members.rows().at(id);
    const bool steps = std::ranges::find(steppers, id) != steppers.end();
    const std::string step = steps ? std::to_string(clocks.pushed(id)) : "", silence = whole_seconds(now - row.last_seen);
    text += (text.empty() ? "waiting for " : ", ") + row.member.name + (step.empty() ? "" : " at step " + step) + ", silent for " +
            silence + " s";
    const auto [told, first] = told_.try_emplace(id, now);
    if (!first && now - told->second < kTellAgain) continue;
    told->second = now;
    context.log(Severity::warning, "everybody waits for one",
                {{"peer", to_string(id)},
                 {"name", row.member.name},
                 {"step", step},
                 {"silent_seconds", silence},
                 {"no_push_for_seconds", whole_seconds(now - since_)}});
  }
  std::erase_if(told_, [&](const auto& each) { return !members.rows().contains(each.first); });
  return text;
}

}  // namespace hourglass
