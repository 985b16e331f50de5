// SPDX-License-Identifier: Apache-2.0
// The sockets of one actor: a ROUTER that everybody may connect to, and a DEALER to each peer that was introduced. Answers go
// back the way on which the peer came: over its DEALER where it was introduced to us, else through the ROUTER by its identity.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "base/metrics.h"
#include "runtime/context.h"
#include "runtime/traffic_accounting.h"
#include "runtime/zmq/name_lookup.h"
#include "runtime/zmq/outbox.h"
#include "runtime/zmq/pulse.h"
#include "runtime/zmq/transport.h"
#include "runtime/zmq/zmq_options.h"

namespace hourglass::zmq {

class PostOffice {
 public:
  static constexpr std::size_t kPeersMax = 2048;  ///< that are posted to; the one not used for longest makes room
  static constexpr int kMessagesPerTurn = 16;     ///< of each socket, so that none starves the others or the timers

  /// Where lines about peers go: the event, the peer, the cause.
  using Complaint = std::function<void(std::string_view event, const std::string& peer, const std::string& cause)>;

  /// Binds and starts the pulse. Errors: as ZmqReactor::create.
  static Result<std::unique_ptr<PostOffice>> open(const ZmqOptions& options, Metrics& metrics, Complaint complain);
  ~PostOffice();

  Status post(ActorId to, const Parcel& parcel, Instant now);
  [[nodiscard]] bool has_room(ActorId to, std::size_t body_bytes) const;
  void introduce(ActorId peer, const std::string& endpoint, Instant now);
  void forget(ActorId peer);

  enum class For { everything, room };
  /// Waits for room to send and, unless for room only, messages and the stop flag; at most `patience`, and returns early on signals.
  void wait(Duration patience, For what = For::everything);
  /// Hands over what has come, a bounded number; ends early where `deliver` returns false. True where something came.
  bool receive(const std::function<bool(Envelope&&)>& deliver);
  /// Sends what waits and has room now.
  void send_waiting(Instant now);
  [[nodiscard]] bool all_sent() const;
  [[nodiscard]] std::size_t waiting_bytes() const;
  /// Each second: collects counters, makes silent sockets anew.
  void look_after(Instant now);
  /// Sends what it can within the linger time and closes. Nothing may be called afterwards.
  void close();

  Pulse& pulse() { return *pulse_; }
  [[nodiscard]] const std::string& bound_endpoint() const { return bound_endpoint_; }

 private:
  /// A connection of ours to a peer.
  struct Link {
    Endpoint endpoint;
    std::string address;  ///< of an endpoint that has a name: where its host is; empty: not known yet
    NameLookup lookup;
    Instant next_lookup{};
    ::zmq::socket_t socket;
    FrameReader reader;
    std::shared_ptr<LinkHealth> health;
    std::optional<Instant> unanswered_since;  ///< the first message that it has not answered
    Instant next_recreation{};
    Duration back_off = Patience::kBackOffMin;
  };
  struct Peer {
    std::string identity;
    std::uint64_t sequence = 0;
    Outbox outbox;
    std::optional<Link> link;
    Instant used{};
  };

  PostOffice(const ZmqOptions& options, Metrics& metrics, Complaint complain);
  Peer* peer_for_posting(ActorId id, Instant now);
  Sent send_now(Peer& peer, const Outgoing& message);
  /// Connects anew. False, and everything as before, where the process has no descriptors left.
  bool open_link(ActorId id, Link& link, std::chrono::milliseconds linger_of_old);
  void connect_link(ActorId id, Link& link, const Endpoint& where);
  void look_up(Link& link);
  /// Connects to the hosts whose names have been found.
  void take_addresses(Instant now);
  bool receive_from(::zmq::socket_t& socket, FrameReader& reader, std::optional<ActorId> link_to,
                    const std::function<bool(Envelope&&)>& deliver, bool& any);
  std::optional<Envelope> admit(Incoming& incoming, std::optional<ActorId> link_to);
  void reject(const std::string& counter, const Incoming& incoming, std::optional<ActorId> link_to, const std::string& cause);
  void recreate_if_silent(ActorId id, Link& link, Instant now);

  const ZmqOptions options_;
  TransportSettings transport_;
  Metrics& metrics_;
  Complaint complain_;
  TrafficAccounting accounting_;
  std::string bound_endpoint_;

  // Closed in the reverse order: sockets, then the pulse that watches them, then the context.
  ::zmq::context_t context_;
  std::unique_ptr<Pulse> pulse_;
  ::zmq::socket_t router_;
  FrameReader router_reader_;
  std::map<ActorId, Peer> peers_;

  Duration router_retry_{};          ///< pause until outboxes of the ROUTER are tried again; zero: none waits
  bool looking_up_ = false;          ///< a name
  double rejected_connections_ = 0;  ///< that were complained about
  bool closed_ = false;
};

}  // namespace hourglass::zmq
