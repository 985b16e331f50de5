// SPDX-License-Identifier: Apache-2.0
// One face of a small cluster for the contract of reactors: whether it is simulated or connected by sockets, a test hosts actors, acts
// in their name, and waits for what should come of it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/metrics.h"
#include "tests/runtime/recording_actor.h"

namespace hourglass {

class ReactorCluster {
 public:
  struct Ending {
    ExitCode code;
    std::string reason;
  };
  virtual ~ReactorCluster() = default;

  /// The aggregator first: the others connect to it. `prepare` sets the actor up before it starts.
  virtual void host(ActorId id, const std::function<void(RecordingActor&)>& prepare = {}) = 0;
  /// Runs in the actor's thread, between messages; returns when it has run.
  virtual void act(ActorId id, const std::function<void(Context&)>& action) = 0;
  /// Looks at the actor while it does nothing.
  virtual void look(ActorId id, const std::function<void(const RecordingActor&)>& action) = 0;
  /// Waits until the actor satisfies the predicate; false after a long time.
  virtual bool wait_for(ActorId id, const std::function<bool(const RecordingActor&)>& predicate) = 0;
  /// How an actor ended; waits for it. Nothing after a long time.
  virtual std::optional<Ending> wait_for_end(ActorId id) = 0;
  virtual void request_stop(ActorId id) = 0;
  virtual std::string endpoint_of(ActorId id) = 0;
};

inline constexpr std::size_t kClusterCredit = 1 << 20;

std::unique_ptr<ReactorCluster> simulated_cluster();
std::unique_ptr<ReactorCluster> socket_cluster();  ///< TCP on the loopback, a thread for each reactor

}  // namespace hourglass
