// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "runtime/actor.h"

namespace hourglass {

/// Hosts actors: gives them their Context, delivers messages and wakes, keeps their metrics, beats their hearts. Implementations:
/// runtime/zmq (one actor, sockets, wall clock), runtime/sim (many actors, virtual clock and network).
class Reactor {
 public:
  virtual ~Reactor() = default;
  virtual void host(ActorId id, std::unique_ptr<Actor> actor) = 0;
  /// Handles what is due, waiting at most `patience` for it. False when every hosted actor has exited.
  virtual bool step(Duration patience) = 0;
};

}  // namespace hourglass
