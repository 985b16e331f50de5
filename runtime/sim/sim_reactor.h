// SPDX-License-Identifier: Apache-2.0
// A whole cluster on one thread with a virtual clock. The same seed and the same calls give the same run, message by message.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/reactor.h"
#include "runtime/sim/event_queue.h"
#include "runtime/sim/memory_storage.h"
#include "runtime/sim/network.h"
#include "runtime/sim/sim_options.h"
#include "runtime/traffic_accounting.h"

namespace hourglass::sim {

class SimContext;
struct Node;

struct Exit {
  ExitCode code = ExitCode::ok;
  std::string reason;
};

/// A message at the moment when its receiver handles it.
struct Delivery {
  Instant at;
  ActorId to;
  const Envelope& envelope;
};

class SimReactor final : public Reactor {
 public:
  explicit SimReactor(std::uint64_t seed, SimOptions options = {});
  ~SimReactor() override;

  /// The actor starts as the next event of the present instant. Its storage is the one named after its id.
  void host(ActorId id, std::unique_ptr<Actor> actor) override;
  /// As above with a storage that several lives of a process share, whatever their ids.
  void host(ActorId id, std::unique_ptr<Actor> actor, const std::string& storage_name);
  /// Handles the next event if it is due within `patience`; else the clock advances by `patience`. False when nobody lives.
  bool step(Duration patience) override;

  void run_for(Duration duration);
  /// True as soon as the predicate holds (looked at after each event), false when `limit` has passed.
  bool run_until(const std::function<bool()>& predicate, Duration limit);
  [[nodiscard]] Instant now() const { return now_; }

  /// Faults. A crashed actor vanishes without notice: what its NIC has not begun to send is lost, its storage stays.
  void crash(ActorId id);
  /// The operator's stop signal: Actor::stop; a second one ends the actor.
  void terminate(ActorId id);
  /// The main loop stands still, hearts beat on and tell it; what arrives waits.
  void hang(ActorId id, Duration duration);
  /// The process stands still (SIGSTOP): no heartbeats either.
  void freeze(ActorId id, Duration duration);
  Network& network() { return network_; }
  MemoryStorage& storage(const std::string& name) { return storages_[name]; }

  /// How long the receiver is busy with a message: it handles nothing until then, and what it posts leaves at the end. Heartbeats go on.
  void set_busy_time(std::function<Duration(const Delivery&)> busy_time) { busy_time_ = std::move(busy_time); }
  /// Called for each message just before its receiver handles it. A tap looks; faults are events of their own: see at().
  void add_tap(std::function<void(const Delivery&)> tap) { taps_.push_back(std::move(tap)); }
  /// Called after each event: for checkers of invariants.
  void set_after_event(std::function<void()> hook) { after_event_ = std::move(hook); }
  void set_log(std::function<void(ActorId, Severity, std::string_view, const Fields&)> sink) { log_ = std::move(sink); }
  /// Runs `action` as an event: scenarios schedule their faults with it.
  void at(Instant when, std::function<void()> action) { events_.push(when, std::move(action)); }

  [[nodiscard]] bool live(ActorId id) const;
  [[nodiscard]] std::vector<ActorId> live_actors() const;
  /// How an actor that is gone ended; null while it lives or after a crash.
  [[nodiscard]] const Exit* exit_of(ActorId id) const;
  /// The newest life's, also after its end; empty for an actor that was never hosted.
  [[nodiscard]] const Metrics& metrics_of(ActorId id) const;
  /// For scenarios that act in an actor's name; the actor must live.
  Context& context_of(ActorId id);
  /// Over (time, sender, receiver, type, size, sequence) of each message handled so far.
  [[nodiscard]] std::uint64_t trace_hash() const { return trace_hash_; }
  [[nodiscard]] std::uint64_t events_handled() const { return events_handled_; }

 private:
  friend class SimContext;
  struct Flight;

  Status post(Node& from, ActorId to, const Parcel& parcel, bool heart);
  [[nodiscard]] bool has_room(ActorId from, ActorId to, std::size_t body_bytes) const;
  /// What a message occupies a NIC with.
  [[nodiscard]] std::size_t nic_bytes(const Envelope& envelope) const;
  void launch(const std::shared_ptr<Flight>& flight, Instant ready);
  void arrive(const std::shared_ptr<Flight>& flight, Instant starts);
  void handle(Node& node, const Flight& flight);
  void release(Flight& flight);
  void introduce(Node& node, ActorId peer, const std::string& endpoint);
  void wake_after(Node& node, Duration delay, std::uint32_t timer);
  void beat(ActorId id, std::uint64_t life);

  /// Runs `action` now, or when the actor is no longer busy, keeping the order.
  void when_free(Node& node, std::function<void(Node&)> action);
  void drain(ActorId id, std::uint64_t life);
  void bury_exited(Node& node);
  void disconnect(Node& node);
  void handle_next_event();
  [[nodiscard]] Node* living(ActorId id);
  [[nodiscard]] bool introduced(const Node& from, ActorId to) const;

  SimOptions options_;
  Random root_random_;
  Network network_;
  EventQueue events_;
  Instant now_{};
  std::uint64_t lives_ = 0;
  std::uint64_t trace_hash_ = 0;
  std::uint64_t events_handled_ = 0;
  TrafficAccounting accounting_;
  std::map<ActorId, std::unique_ptr<Node>> nodes_;  ///< the newest life of each actor
  std::map<std::uint64_t, Instant> crashes_;        ///< by life
  std::map<std::string, MemoryStorage> storages_;
  std::map<Network::Pair, std::shared_ptr<std::size_t>> credit_used_;  ///< bytes accepted and not yet handled

  std::function<Duration(const Delivery&)> busy_time_;
  std::vector<std::function<void(const Delivery&)>> taps_;
  std::function<void()> after_event_;
  std::function<void(ActorId, Severity, std::string_view, const Fields&)> log_;
};

}  // namespace hourglass::sim
