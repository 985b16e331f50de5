// SPDX-License-Identifier: Apache-2.0
// An actor for tests: keeps what it receives and does what the test hangs into it.
#pragma once

#include <functional>
#include <vector>

#include "runtime/actor.h"

namespace hourglass {

struct RecordingActor : Actor {
  std::function<void(Context&)> on_start;
  std::function<void(Context&, const Envelope&)> on_receive;
  std::function<void(Context&, std::uint32_t)> on_wake;
  std::function<void(Context&)> on_stop;
  std::vector<Envelope> received;
  std::vector<Instant> times;
  std::vector<std::uint32_t> wakes;

  void start(Context& context) override {
    if (on_start) on_start(context);
  }
  void receive(Context& context, const Envelope& envelope) override {
    received.push_back(envelope);
    times.push_back(context.now());
    if (on_receive) on_receive(context, envelope);
  }
  void wake(Context& context, std::uint32_t timer) override {
    wakes.push_back(timer);
    if (on_wake) on_wake(context, timer);
  }
  void stop(Context& context) override {
    if (on_stop) return on_stop(context);
    Actor::stop(context);
  }
};

/// A message of `bytes` bytes that no decoder will like; reactors do not look into bodies.
inline Parcel filler(std::size_t bytes, Traffic traffic = Traffic::control) {
  Bytes body(bytes);
  for (std::size_t i = 0; i < bytes; ++i) body[i] = static_cast<std::byte>(i * 31 + bytes);
  return {MessageType::activity, traffic, share(std::move(body))};
}

}  // namespace hourglass
