// SPDX-License-Identifier: Apache-2.0
// One life of one simulated process, and the Context that its actor sees.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "runtime/sim/sim_reactor.h"

namespace hourglass::sim {

struct Node;

class SimContext final : public Context {
 public:
  SimContext(SimReactor& reactor, Node& node) : reactor_(reactor), node_(node) {}
  [[nodiscard]] ActorId self() const override;
  /// Of this process's own clock: its zero is the start of the process, so no two agree on what time it is.
  [[nodiscard]] Instant now() const override;
  Random& random() override;
  Status post(ActorId to, const Parcel& parcel) override;
  [[nodiscard]] bool has_room(ActorId to, std::size_t body_bytes) const override;
  void introduce(ActorId peer, const std::string& endpoint) override;
  void forget(ActorId peer) override;
  void wake_after(Duration delay, std::uint32_t timer) override;
  void count(std::string_view metric, double amount) override;
  void gauge(std::string_view metric, double value) override;
  [[nodiscard]] const std::map<std::string, double, std::less<>>& metrics() const override;
  SpanRing& spans() override;
  void log(Severity severity, std::string_view event, Fields fields) override;
  Storage& storage() override;
  void exit(ExitCode code, std::string reason) override;

 private:
  SimReactor& reactor_;
  Node& node_;
};

struct Node {
  Node(SimReactor& reactor, ActorId id_, std::uint64_t life_, std::unique_ptr<Actor> actor_, Random random_, MemoryStorage& storage_)
      : id(id_), life(life_), actor(std::move(actor_)), random(random_), storage(storage_), context(reactor, *this) {}

  ActorId id;
  Instant born{};                ///< of the reactor's clock
  std::uint64_t life;            ///< counts all lives of all actors: an event of an earlier life finds another number
  std::unique_ptr<Actor> actor;  ///< null once it is gone
  Random random;
  MemoryStorage& storage;
  SimContext context;
  Metrics metrics;
  SpanRing spans;
  std::map<std::uint32_t, std::uint64_t> timers;  ///< number -> the wake that counts; earlier ones were replaced
  std::uint64_t wakes_asked = 0;
  std::map<ActorId, std::uint64_t> sequences;  ///< of the messages to each receiver
  std::map<ActorId, std::uint64_t> heart_sequences;
  std::map<ActorId, std::string> introduced;
  std::deque<std::function<void(Node&)>> waiting;  ///< for the end of the busy time; bounded by the senders' credit
  bool drain_scheduled = false;
  Instant busy_since{}, busy_until{};
  Instant frozen_until{};
  bool stopping = false;
  std::optional<Exit> exit;
};

}  // namespace hourglass::sim
