// SPDX-License-Identifier: Apache-2.0
#include "runtime/zmq/post_office.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace hourglass::zmq {
namespace {

// ZeroMQ cannot tell when one peer of a ROUTER has room again, so waiting messages are tried again: soon at first, less often in vain.
constexpr Duration kRouterRetryMin = std::chrono::milliseconds(1), kRouterRetryMax = std::chrono::milliseconds(16);
constexpr Duration kLookupGlance = std::chrono::milliseconds(10);  // how often to look whether a name has been found

std::chrono::milliseconds whole_milliseconds(Duration d) { return std::chrono::ceil<std::chrono::milliseconds>(d); }

}  // namespace

PostOffice::PostOffice(const ZmqOptions& options, Metrics& metrics, Complaint complain)
    : options_(options),
      transport_{options.message_bytes_max, whole_milliseconds(options.linger), options.ipv6},
      metrics_(metrics),
      complain_(std::move(complain)),
      context_(make_context(options.sockets_max)) {}

PostOffice::~PostOffice() { close(); }

Result<std::unique_ptr<PostOffice>> PostOffice::open(const ZmqOptions& options, Metrics& metrics, Complaint complain) {
  auto here = parse_endpoint(options.bind);
  if (!here.ok()) return here.error();
  std::optional<Endpoint> aggregator;
  if (!options.aggregator.empty()) {
    auto parsed = parse_endpoint(options.aggregator);
    if (!parsed.ok()) return parsed.error();
    if (parsed->port == 0 || parsed->host == "*") return Error{Errc::bad_config, options.aggregator + ": not an address to connect to"};
    aggregator = std::move(*parsed);
  }
  std::unique_ptr<PostOffice> office(new PostOffice(options, metrics, std::move(complain)));
  TransportSettings& transport = office->transport_;
  transport.ipv6 = options.ipv6 || here->is_ipv6() || (aggregator && aggregator->is_ipv6());
  try {
    office->router_ = make_router(office->context_, options.self, transport);
  } catch (const ::zmq::error_t& error) {
    return Error{Errc::io, std::string("no socket to listen with: ") + error.what()};
  }
  auto bound = bind(office->router_, *here, transport.ipv6);
  if (!bound.ok()) return bound.error();
  office->bound_endpoint_ = std::move(*bound);
  office->pulse_ = std::make_unique<Pulse>(
      office->context_, Pulse::Options{options.self, aggregator, options.heartbeat_interval, {options.silence_max}, transport});
  office->pulse_->watch(office->router_, nullptr);
  if (aggregator) office->introduce(kAggregator, options.aggregator, Instant{});
  return office;
}

bool PostOffice::has_room(ActorId to, std::size_t body_bytes) const {
  const auto peer = peers_.find(to);
  return peer == peers_.end() || peer->second.outbox.admits(body_bytes, options_.credit_bytes);
}

Status PostOffice::post(ActorId to, const Parcel& parcel, Instant now) {
  if (to == options_.self) return {Errc::unreachable, "an actor has no way to itself"};
  if (parcel.body->size() > options_.message_bytes_max) {
    return {Errc::over_limit, "a message of " + std::to_string(parcel.body->size()) + " bytes is above the transport's limit"};
  }
  Peer* peer = peer_for_posting(to, now);
  if (!peer) return {Errc::over_limit, "too many peers"};
  if (!peer->outbox.admits(parcel.body->size(), options_.credit_bytes)) {
    return {Errc::over_limit, "the byte credit towards " + to_string(to) + " is used up"};
  }
  const Envelope envelope{parcel.type, parcel.traffic, options_.self, peer->sequence, parcel.body, {}};
  Outgoing message{encode_header(envelope), parcel.body};
  const Sent sent = peer->outbox.empty() ? send_now(*peer, message) : Sent::later;
  if (sent == Sent::unreachable) {
    if (peer->sequence == 0) peers_.erase(to);
    return {Errc::unreachable, "no route to " + to_string(to)};
  }
  if (sent == Sent::later) {
    peer->outbox.push(std::move(message));
    if (!peer->link && router_retry_ == Duration::zero()) router_retry_ = kRouterRetryMin;
  }
  ++peer->sequence;
  peer->used = now;
  if (peer->link && !peer->link->unanswered_since) peer->link->unanswered_since = now;
  accounting_.count_sent(metrics_, parcel.traffic, parcel.body->size());
  return {};
}

PostOffice::Peer* PostOffice::peer_for_posting(ActorId id, Instant now) {
  if (const auto known = peers_.find(id); known != peers_.end()) return &known->second;
  if (peers_.size() >= kPeersMax) {
    auto oldest = peers_.end();
    for (auto at = peers_.begin(); at != peers_.end(); ++at) {
      if (!at->second.link && at->second.outbox.empty() && (oldest == peers_.end() || at->second.used < oldest->second.used)) oldest = at;
    }
    if (oldest == peers_.end()) return nullptr;
    peers_.erase(oldest);
  }
  Peer& peer = peers_[id];
  peer.identity = encode({Line::messages, id});
  peer.used = now;
  return &peer;
}

Sent PostOffice::send_now(Peer& peer, const Outgoing& message) {
  return peer.link ? send_frames(peer.link->socket, {}, message) : send_frames(router_, peer.identity, message);
}

void PostOffice::introduce(ActorId id, const std::string& endpoint, Instant now) {
  if (id == options_.self || endpoint.empty()) return;
  auto parsed = parse_endpoint(endpoint);
  if (!parsed.ok()) {
    metrics_.count("refused.endpoint", 1);
    return complain_("an endpoint that cannot be connected to", to_string(id), parsed.error().text);
  }
  // A process listens at one place, so who was said to be there before is gone; two sockets of ours there would take our name from each
  // other.
  for (const auto& [other, known] : peers_) {
    if (other == id || !known.link || known.link->endpoint.text() != parsed->text()) continue;
    if (other == kAggregator) {
      metrics_.count("refused.endpoint", 1);
      return complain_("an endpoint that is the aggregator's", to_string(id), parsed->text());
    }
    forget(other);
    break;
  }
  Peer* peer = peer_for_posting(id, now);
  if (!peer) return complain_("too many peers", to_string(id), endpoint);
  if (peer->link && peer->link->endpoint.text() == parsed->text()) return;
  const bool is_new = !peer->link;
  if (is_new) peer->link.emplace();
  const Endpoint before = std::exchange(peer->link->endpoint, std::move(*parsed));
  const std::string address_before = std::exchange(peer->link->address, "");
  peer->link->unanswered_since.reset();
  if (open_link(id, *peer->link, transport_.linger)) return;
  peer->link->endpoint = before;
  peer->link->address = address_before;
  if (is_new) peer->link.reset();
}

bool PostOffice::open_link(ActorId id, Link& link, std::chrono::milliseconds linger_of_old) {
  const auto health = std::make_shared<LinkHealth>();
  ::zmq::socket_t socket;
  try {
    socket = make_dealer(context_, {Line::messages, options_.self}, transport_);
    pulse_->watch(socket, health);
  } catch (const ::zmq::error_t& error) {
    metrics_.count("refused.socket", 1);
    complain_("no socket for a peer", to_string(id), error.what());
    return false;
  }
  if (link.socket.handle()) link.socket.set(::zmq::sockopt::linger, static_cast<int>(linger_of_old.count()));
  link.socket = std::move(socket);
  link.reader = {};
  link.health = health;
  if (!link.endpoint.is_name()) connect_link(id, link, link.endpoint);
  if (!link.address.empty()) connect_link(id, link, {link.address, link.endpoint.port});
  if (link.endpoint.is_name()) look_up(link);
  return true;
}

void PostOffice::connect_link(ActorId id, Link& link, const Endpoint& where) {
  const Status connected = connect(link.socket, where);
  if (connected.ok()) return;
  metrics_.count("refused.endpoint", 1);
  complain_("an endpoint that cannot be connected to", to_string(id), connected.error().text);
}

void PostOffice::look_up(Link& link) {
  link.lookup.begin(link.endpoint.host, transport_.ipv6);
  looking_up_ = true;
}

void PostOffice::take_addresses(Instant now) {
  if (!looking_up_) return;
  looking_up_ = false;
  for (auto& [id, peer] : peers_) {
    if (!peer.link) continue;
    Link& link = *peer.link;
    const auto answer = link.lookup.take();
    looking_up_ = looking_up_ || link.lookup.under_way();
    if (!answer) continue;
    link.next_lookup = now + NameLookup::kPause;
    if (!answer->cause.empty()) {
      metrics_.count("lookups_failed", 1);
      complain_("a name that does not resolve", to_string(id), link.endpoint.host + ": " + answer->cause + "; tried again and again");
      continue;
    }
    const std::string& address = answer->after(link.address);
    if (address == link.address || link.health->connected.load()) continue;
    if (!link.address.empty()) (void)::zmq_disconnect(link.socket.handle(), Endpoint{link.address, link.endpoint.port}.text().c_str());
    link.address = address;
    connect_link(id, link, {address, link.endpoint.port});
  }
}

void PostOffice::forget(ActorId id) {
  const auto known = peers_.find(id);
  if (known == peers_.end()) return;
  if (!known->second.outbox.empty()) metrics_.count("dropped.forgotten", static_cast<double>(known->second.outbox.size()));
  known->second.outbox.clear();
  known->second.link.reset();
}

void PostOffice::wait(Duration patience, For what) {
  const short input = what == For::everything ? ZMQ_POLLIN : 0;
  std::vector<zmq_pollitem_t> items;
  items.reserve(peers_.size() + 2);
  items.push_back({router_.handle(), 0, input, 0});
  if (options_.stop) items.push_back({nullptr, options_.stop->descriptor(), input, 0});
  for (auto& [id, peer] : peers_) {
    if (!peer.link) continue;
    const short events = static_cast<short>(input | (peer.outbox.empty() ? 0 : ZMQ_POLLOUT));
    items.push_back({peer.link->socket.handle(), 0, events, 0});
  }
  if (router_retry_ > Duration::zero()) patience = std::min(patience, router_retry_);
  if (looking_up_) patience = std::min(patience, kLookupGlance);
  const auto limit = static_cast<long>(whole_milliseconds(std::max(patience, Duration::zero())).count());
  // The sockets themselves tell what has come; a signal ends the wait like an event does.
  const int rc = ::zmq_poll(items.data(), static_cast<int>(items.size()), limit);
  HG_CHECK(rc >= 0 || ::zmq_errno() == EINTR, ::zmq_strerror(::zmq_errno()));
}

void PostOffice::send_waiting(Instant now) {
  take_addresses(now);
  bool waits = false, moved = false;
  for (auto& [id, peer] : peers_) {
    for (int i = 0; i < kMessagesPerTurn && !peer.outbox.empty(); ++i) {
      const Sent sent = send_now(peer, peer.outbox.front());
      if (sent == Sent::unreachable) {
        metrics_.count("dropped.unreachable", static_cast<double>(peer.outbox.size()));
        peer.outbox.clear();
        break;
      }
      if (sent == Sent::later) break;
      peer.outbox.pop();
      peer.used = now;
      moved = true;
    }
    waits = waits || (!peer.link && !peer.outbox.empty());
  }
  if (!waits) {
    router_retry_ = Duration::zero();
  } else {
    router_retry_ = moved ? kRouterRetryMin : std::min(std::max(2 * router_retry_, kRouterRetryMin), kRouterRetryMax);
  }
}

bool PostOffice::all_sent() const {
  return std::ranges::all_of(peers_, [](const auto& entry) { return entry.second.outbox.empty(); });
}

std::size_t PostOffice::waiting_bytes() const {
  std::size_t bytes = 0;
  for (const auto& [id, peer] : peers_) bytes += peer.outbox.bytes();
  return bytes;
}

void PostOffice::close() {
  if (std::exchange(closed_, true)) return;
  if (pulse_) pulse_->collect(metrics_);
  peers_.clear();
  if (router_.handle()) router_.close();
  pulse_.reset();
  context_.close();  // returns when everything is sent or the sockets' linger time is over
}

}  // namespace hourglass::zmq
