// SPDX-License-Identifier: Apache-2.0
// Who may take part in a job, and who is missing: what the aggregator tells newcomers and people.
#pragma once

#include <string>

#include "actors/aggregator/member_table.h"
#include "messages/hello.h"
#include "messages/job.h"

namespace hourglass {

/// What does not fit; empty where this process and the newcomer speak a common protocol. `build`: this process's, for people.
std::string protocol_mismatch(const Hello& hello, const std::string& build);

/// Where others reach the newcomer: the address that it gives, else `source`, the one that its message came from. Empty where unknown.
std::string endpoint_of(const Hello& hello, const std::string& source);

/// Members of a role that the job has places for.
std::size_t places_for(Role role, const Job& job);

/// Why there is no place: who holds them, and which setting makes more.
std::string no_place_left(Role role, const Hello& hello, const Job& job, const MemberTable& members);

/// "paused: no conv-worker; ...": without whom nothing is learned while the run trains; empty where somebody of each role is there.
std::string paused_for(const Job& job, const MemberTable& members);

/// "data-loader, conv-worker 2 of 4": whom the start waits for; empty where nobody is missing. `loader`: it has read its data.
std::string missing_members(const Job& job, const MemberTable& members, bool loader);

}  // namespace hourglass
