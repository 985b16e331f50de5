// SPDX-License-Identifier: Apache-2.0
// What every role process does around its actor: log, identity, reactor, signals, health, port file, and saying what it waits for.
#pragma once

#include <functional>
#include <memory>

#include "runtime/actor.h"
#include "runtime/process_identity.h"
#include "services/options/settings.h"

namespace hourglass {

inline constexpr const char* kAggregatorListen = "0.0.0.0:7070";
inline constexpr const char* kWorkerListen = "0.0.0.0:0";

using ActorMaker = std::function<std::unique_ptr<Actor>(ProcessIdentity identity)>;

/// Call first: later lines carry the role.
void start_role_log(Role role, const Settings& settings);
/// Runs until the actor leaves; SIGTERM and SIGINT ask it to, a second one ends it. The reason of a failure is logged.
ExitCode run_role(Role role, const Settings& settings, const ActorMaker& make_actor);

/// Random bits of the operating system: what no two processes may share.
std::uint64_t random_bits();
/// "<port>\n", as a whole or not at all. `path` empty: nothing is written.
Status write_port_file(const std::string& path, std::uint16_t port);

}  // namespace hourglass
