// SPDX-License-Identifier: Apache-2.0
// The receiving side of the post office: what is let in, what is thrown away and counted, and when silence has lasted too long.
#include <algorithm>
#include <cstring>

#include "messages/codec.h"
#include "runtime/zmq/post_office.h"

namespace hourglass::zmq {
namespace {

/// A connection that looks alive (it shook hands, its host answers) is believed for longer: making it anew loses what is under way.
constexpr int kConnectedSilenceFactor = 6;

SharedBytes copy_body(const ::zmq::message_t& frame) {
  const auto* begin = frame.data<std::byte>();
  return share(Bytes(begin, begin + frame.size()));
}

}  // namespace

bool PostOffice::receive(const std::function<bool(Envelope&&)>& deliver) {
  bool any = false;
  if (!receive_from(router_, router_reader_, std::nullopt, deliver, any)) return any;
  // An actor may introduce and forget peers while it handles a message, so the table is not walked with an iterator.
  std::vector<ActorId> linked;
  for (const auto& [id, peer] : peers_) {
    if (peer.link) linked.push_back(id);
  }
  for (const ActorId id : linked) {
    const auto at = peers_.find(id);
    if (at == peers_.end() || !at->second.link) continue;
    if (!receive_from(at->second.link->socket, at->second.link->reader, id, deliver, any)) break;
  }
  return any;
}

/// False where `deliver` said that nothing more is wanted.
bool PostOffice::receive_from(::zmq::socket_t& socket, FrameReader& reader, std::optional<ActorId> link_to,
                              const std::function<bool(Envelope&&)>& deliver, bool& any) {
  const void* handle = socket.handle();
  for (int i = 0; i < kMessagesPerTurn; ++i) {
    Incoming incoming;
    const Reading reading = reader.read(socket, !link_to, incoming);
    if (reading == Reading::nothing) return true;
    any = true;
    if (reading == Reading::rejected) reject("rejected.frames", incoming, link_to, "not a header and a body");
    if (reading != Reading::message) continue;
    std::optional<Envelope> envelope = admit(incoming, link_to);
    if (!envelope) continue;
    if (const auto known = peers_.find(envelope->from); known != peers_.end() && known->second.link) {
      known->second.link->unanswered_since.reset();
      known->second.link->back_off = Patience::kBackOffMin;
    }
    accounting_.count_received(metrics_, envelope->traffic, envelope->body->size());
    if (!deliver(std::move(*envelope))) return false;
    if (!link_to) continue;
    const auto at = peers_.find(*link_to);  // the actor may have closed the very socket that this message came from
    if (at == peers_.end() || !at->second.link || at->second.link->socket.handle() != handle) return true;
  }
  return true;
}

std::optional<Envelope> PostOffice::admit(Incoming& incoming, std::optional<ActorId> link_to) {
  const std::span header(incoming.header.data<std::byte>(), incoming.header.size());
  auto decoded = decode_header(header, incoming.body.size());
  if (!decoded.ok()) {
    const bool other_version = decoded.error().code == Errc::unsupported;
    reject(other_version ? "rejected.protocol" : "rejected.header", incoming, link_to, decoded.error().text);
    return std::nullopt;
  }
  if (!is_known(static_cast<std::uint8_t>(decoded->type))) {
    reject("rejected.type", incoming, link_to, "unknown message type " + std::to_string(static_cast<int>(decoded->type)));
    return std::nullopt;
  }
  bool identity_fits = false;
  if (link_to) {
    identity_fits = decoded->from == *link_to;
  } else if (const auto identity = decode_identity(incoming.identity)) {
    const bool line_fits = (identity->line == Line::heartbeats) == (decoded->type == MessageType::heartbeat);
    identity_fits = line_fits && decoded->from == identity->actor && decoded->from != options_.self;
  }
  if (!identity_fits) {
    reject("refused.identity", incoming, link_to, "a connection that is not " + to_string(decoded->from) + "'s speaks in its name");
    return std::nullopt;
  }
  decoded->body = copy_body(incoming.body);
  decoded->source_address = incoming.source_address();
  return std::move(*decoded);
}

void PostOffice::reject(const std::string& counter, const Incoming& incoming, std::optional<ActorId> link_to, const std::string& cause) {
  metrics_.count(counter, 1);
  std::string peer = incoming.source_address();
  if (link_to) peer += " (" + to_string(*link_to) + ")";
  complain_("message dropped", peer, cause);
}

void PostOffice::look_after(Instant now) {
  pulse_->collect(metrics_);
  metrics_.gauge("outbox_bytes", static_cast<double>(waiting_bytes()));
  const double rejected = metrics_.value("rejected.connections");
  if (rejected > rejected_connections_) {
    complain_("connection rejected", "at " + bound_endpoint_, std::to_string(static_cast<std::uint64_t>(rejected)) + " so far");
    rejected_connections_ = rejected;
  }
  for (auto& [id, peer] : peers_) {
    if (!peer.link) continue;
    recreate_if_silent(id, *peer.link, now);
    Link& link = *peer.link;  // a host that is not there may have moved
    if (link.endpoint.is_name() && !link.health->connected.load() && !link.lookup.under_way() && now >= link.next_lookup) look_up(link);
  }
}

void PostOffice::recreate_if_silent(ActorId id, Link& link, Instant now) {
  if (id.role == Role::monitor || !link.unanswered_since || now < link.next_recreation) return;  // monitors never answer
  const Duration allowed = link.health->connected.load() ? kConnectedSilenceFactor * options_.silence_max : options_.silence_max;
  if (now - *link.unanswered_since <= allowed) return;
  metrics_.count("socket.recreated", 1);
  complain_("a silent peer; connecting anew", to_string(id), "at " + link.endpoint.text());
  (void)open_link(id, link, std::chrono::milliseconds(0));  // without descriptors: again after the back-off
  link.unanswered_since = now;
  link.next_recreation = now + link.back_off;
  link.back_off = std::min(2 * link.back_off, Patience::kBackOffMax);
}

}  // namespace hourglass::zmq
