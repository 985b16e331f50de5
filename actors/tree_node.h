// SPDX-License-Identifier: Apache-2.0
// Stands between CONV workers and the aggregator: merges its children's pushes into one of its own, holds back what is small, and passes
// the published deltas down.
#pragma once

#include <memory>

#include "runtime/actor.h"
#include "runtime/process_identity.h"

namespace hourglass {

/// To its parent a worker of the conv group, to its children an aggregator. A push is acknowledged when it is merged: from then on the node
/// owns its content, and forwards or holds every bit of it. What a node holds when it vanishes is lost, and counted; one that is asked to
/// leave forwards it first.
///
/// With a staleness bound there is one push per round: as soon as each active child has pushed it. The node's clock is that of its slowest
/// child, and its children may run as far as both their siblings and the parent admit; so the bound holds over the whole tree. Without one,
/// a push goes out when each active child has contributed, or after a bounded wait.
std::unique_ptr<Actor> make_tree_node(ProcessIdentity identity);

}  // namespace hourglass
