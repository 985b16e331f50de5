// SPDX-License-Identifier: Apache-2.0
// Hosts one actor per process over ZeroMQ. Threads: the caller of step() owns actor, timers, sockets and metrics; the pulse thread
// (pulse.h) sends heartbeats and reads socket monitors; two more belong to ZeroMQ. They share atomics and one locked set of counters.
#pragma once

#include <memory>
#include <string>

#include "base/metrics.h"
#include "runtime/reactor.h"
#include "runtime/zmq/zmq_options.h"

namespace hourglass::zmq {

class ZmqReactor final : public Reactor {
 public:
  /// Listens at once, so that the port can be told before the actor starts. Errors: bad_config (an endpoint that cannot be, a name
  /// that does not resolve), io (a port that is taken, an address that is not this machine's, a storage folder that cannot be used).
  static Result<std::unique_ptr<ZmqReactor>> create(ZmqOptions options);
  ~ZmqReactor() override;

  /// Exactly one actor, with the id of the options.
  void host(ActorId id, std::unique_ptr<Actor> actor) override;
  bool step(Duration patience) override;
  /// Steps to the end.
  ExitCode run();

  [[nodiscard]] std::uint16_t bound_port() const;
  [[nodiscard]] std::string bound_endpoint() const;  ///< "tcp://0.0.0.0:41234"
  /// Why it ended; meaningful after step() returned false.
  [[nodiscard]] ExitCode exit_code() const;
  [[nodiscard]] const std::string& exit_reason() const;
  /// For the thread that calls step(), between its calls.
  [[nodiscard]] const Metrics& metrics() const;

 private:
  class Loop;
  explicit ZmqReactor(std::unique_ptr<Loop> loop);
  std::unique_ptr<Loop> loop_;
};

}  // namespace hourglass::zmq
