// SPDX-License-Identifier: Apache-2.0
#include "runtime/zmq/socket_watch.h"

#include <cerrno>
#include <cstring>
#include <string>

namespace hourglass::zmq {
namespace {

constexpr int kEvents = ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_CONNECTED | ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED |
                        ZMQ_EVENT_CONNECT_RETRIED | ZMQ_EVENT_MONITOR_STOPPED;

std::string fresh_name() {
  static std::atomic<std::uint64_t> count{0};
  return "inproc://watch-" + std::to_string(count.fetch_add(1));
}

}  // namespace

SocketWatch::SocketWatch(::zmq::context_t& context, ::zmq::socket_t& watched, std::shared_ptr<LinkHealth> health)
    : events_(context, ::zmq::socket_type::pair), health_(std::move(health)) {
  events_.set(::zmq::sockopt::linger, 0);
  const std::string name = fresh_name();
  events_.connect(name);  // first: ZeroMQ's side would wait for a reader with its first event
  if (::zmq_socket_monitor(watched.handle(), name.c_str(), kEvents) != 0) throw ::zmq::error_t();
}

bool SocketWatch::drain(Metrics& counters) {
  while (!stopped_) {
    ::zmq::message_t head, address;
    int got;
    do {
      got = ::zmq_msg_recv(head.handle(), events_.handle(), ZMQ_DONTWAIT);
    } while (got < 0 && errno == EINTR);
    if (got < 0) return true;
    if (head.more()) {
      do {
        got = ::zmq_msg_recv(address.handle(), events_.handle(), ZMQ_DONTWAIT);
      } while (got < 0 && errno == EINTR);
    }
    if (head.size() < 6) continue;
    std::uint16_t event = 0;
    std::uint32_t value = 0;
    std::memcpy(&event, head.data(), sizeof event);
    std::memcpy(&value, head.data<std::byte>() + sizeof event, sizeof value);
    note(event, value, counters);
  }
  return false;
}

void SocketWatch::note(std::uint16_t event, std::uint32_t value, Metrics& counters) {
  switch (event) {
    case ZMQ_EVENT_ACCEPTED:
    case ZMQ_EVENT_CONNECTED:
      std::erase(shaking_hands_, value);
      shaking_hands_.push_back(value);
      break;
    case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
      // ZeroMQ does not say which. A peer of ours is done within a round trip, so it is the newest; one that is silent stays behind.
      if (!shaking_hands_.empty()) {
        established_.insert(shaking_hands_.back());
        shaking_hands_.pop_back();
      }
      counters.count("connected", 1);
      if (health_) health_->connected.store(true);
      break;
    case ZMQ_EVENT_DISCONNECTED:
      std::erase(shaking_hands_, value);
      counters.count(established_.erase(value) > 0 ? "disconnected" : "rejected.connections", 1);
      if (health_) health_->connected.store(false);
      break;
    case ZMQ_EVENT_CONNECT_RETRIED: counters.count("retried", 1); break;
    case ZMQ_EVENT_MONITOR_STOPPED: stopped_ = true; break;
    default: break;
  }
}

}  // namespace hourglass::zmq
