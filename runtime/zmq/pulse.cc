// SPDX-License-Identifier: Apache-2.0
#include "runtime/zmq/pulse.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "messages/codec.h"
#include "messages/heartbeat.h"
#include "runtime/zmq/frames.h"

namespace hourglass::zmq {
namespace {

constexpr long kLookupGlance = 10;  // milliseconds between looks whether the aggregator's name has been found

}  // namespace

Pulse::Pulse(::zmq::context_t& context, const Options& options)
    : context_(context), options_(options), bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  HG_CHECK(bell_ >= 0, "eventfd");
  sigset_t all, before;  // signals are for the main loop
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Pulse::~Pulse() {
  ending_.store(true);
  ring();
  thread_.join();
  ::close(bell_);
}

void Pulse::ring() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(bell_, &one, sizeof one);
}

void Pulse::watch(::zmq::socket_t& socket, std::shared_ptr<LinkHealth> health) {
  SocketWatch watch(context_, socket, std::move(health));
  {
    const std::lock_guard lock(mutex_);
    new_watches_.push_back(std::move(watch));
  }
  ring();
}

void Pulse::collect(Metrics& into) {
  Metrics counted;
  {
    const std::lock_guard lock(mutex_);
    counted = std::exchange(counters_, {});
  }
  for (const auto& [name, amount] : counted.values()) into.count(name, amount);
}

void Pulse::run() {
  std::list<SocketWatch> watches;
  next_beat_ = heart_alive_ = next_heart_ = next_lookup_ = Clock::now();
  const bool beats = options_.aggregator && options_.interval > Duration::zero();
  if (beats) {
    open_heart();
    next_beat_ += options_.interval;
  }
  while (!ending_.load()) {
    {
      const std::lock_guard lock(mutex_);
      for (SocketWatch& watch : new_watches_) watches.push_back(std::move(watch));
      new_watches_.clear();
      std::erase_if(watches, [this](SocketWatch& watch) { return !watch.drain(counters_); });
    }
    if (beats) {
      look_after_heart();
      find_aggregator();
      if (Clock::now() >= next_beat_) beat();
    }
    wait(watches);
  }
  if (heart_.handle()) heart_.close();
  {
    const std::lock_guard lock(mutex_);
    new_watches_.clear();
  }
}

void Pulse::wait(std::list<SocketWatch>& watches) {
  std::vector<zmq_pollitem_t> items;
  items.push_back({nullptr, bell_, ZMQ_POLLIN, 0});
  for (SocketWatch& watch : watches) items.push_back({watch.handle(), 0, ZMQ_POLLIN, 0});
  long patience = -1;
  if (options_.aggregator && options_.interval > Duration::zero()) {
    patience = std::max<long>(0, std::chrono::ceil<std::chrono::milliseconds>(next_beat_ - Clock::now()).count());
  }
  if (lookup_.under_way()) patience = std::min(patience, kLookupGlance);
  ::zmq_poll(items.data(), static_cast<int>(items.size()), patience);  // whatever it says, the loop looks at everything
  std::uint64_t ignored = 0;
  [[maybe_unused]] const auto got = ::read(bell_, &ignored, sizeof ignored);
}

void Pulse::open_heart() {
  const auto health = std::make_shared<LinkHealth>();
  try {
    ::zmq::socket_t heart = make_dealer(context_, {Line::heartbeats, options_.self}, options_.transport);
    heart.set(::zmq::sockopt::linger, 0);
    watch(heart, health);
    heart_ = std::move(heart);
  } catch (const ::zmq::error_t&) {  // no descriptors left: what there is beats on, and this is tried again
    return;
  }
  heart_health_ = health;
  const bool named = options_.aggregator->is_name();
  if (named && address_.empty()) return;  // find_aggregator() connects
  const Status connected = connect(heart_, named ? Endpoint{address_, options_.aggregator->port} : *options_.aggregator);
  HG_CHECK(connected.ok(), "the aggregator's endpoint was accepted before");
}

/// Where it has a name, and is not connected: it may have moved.
void Pulse::find_aggregator() {
  if (!options_.aggregator->is_name() || !heart_.handle()) return;
  const bool connected = heart_health_ && heart_health_->connected.load();
  if (const auto answer = lookup_.take()) {
    next_lookup_ = Clock::now() + NameLookup::kPause;
    if (connected || !answer->cause.empty() || answer->after(address_) == address_) return;  // the main loop tells of failures
    const auto at = [this] { return Endpoint{address_, options_.aggregator->port}; };
    if (!address_.empty()) (void)::zmq_disconnect(heart_.handle(), at().text().c_str());
    address_ = answer->after(address_);
    (void)connect(heart_, at());  // an address that cannot be: another lookup follows
  }
  if (!connected && !lookup_.under_way() && Clock::now() >= next_lookup_) lookup_.begin(options_.aggregator->host, options_.transport.ipv6);
}

void Pulse::look_after_heart() {
  const auto now = Clock::now();
  if (heart_health_ && heart_health_->connected.load()) {
    heart_alive_ = now;
    back_off_ = Patience::kBackOffMin;
  }
  if (now - heart_alive_ <= options_.patience.silence_max || now < next_heart_) return;
  open_heart();
  next_heart_ = now + back_off_;
  back_off_ = std::min(2 * back_off_, Patience::kBackOffMax);
  const std::lock_guard lock(mutex_);
  counters_.count("socket.recreated", 1);
}

void Pulse::beat() {
  const auto now = Clock::now();
  next_beat_ = std::max(next_beat_ + options_.interval, now + options_.interval / 2);  // no burst after a pause
  Heartbeat heartbeat;
  if (const std::int64_t since = busy_since_.load(std::memory_order_relaxed); since != 0) {
    const Duration age(std::max<std::int64_t>(0, now.time_since_epoch().count() - since));
    heartbeat.progress_age_ms = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(age).count());
  }
  const Parcel parcel = pack(heartbeat);
  const Envelope envelope{parcel.type, parcel.traffic, options_.self, sequence_, parcel.body, {}};
  if (!heart_.handle() || send_frames(heart_, {}, {encode_header(envelope), parcel.body}) != Sent::done)
    return;  // the next one will tell the same
  ++sequence_;
  const std::lock_guard lock(mutex_);
  accounting_.count_sent(counters_, parcel.traffic, parcel.body->size());
}

}  // namespace hourglass::zmq
