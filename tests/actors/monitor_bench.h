// SPDX-License-Identifier: Apache-2.0
// A monitor on a bench: a clock that moves when told to, timers, and messages from whoever the test says they are from.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/monitor.h"
#include "base/metrics.h"
#include "messages/all_messages.h"

namespace hourglass {

/// Keeps the newest published state and how many there were.
class LastState final : public StateSink {
 public:
  void publish(std::shared_ptr<const DashboardState> state) override {
    newest = std::move(state);
    ++count;
  }
  std::shared_ptr<const DashboardState> newest;
  std::size_t count = 0;
};

class MonitorBench final : public Context {
 public:
  static constexpr ActorId kSelf{Role::monitor, 7};

  explicit MonitorBench(StateSink* sink, std::string name = "bench", CommandSource* commands = nullptr)
      : actor_(make_monitor(sink, commands, {"0.1.0 (test)", 1, std::move(name), "", 9000, 42})) {}

  void start() { actor_->start(*this); }
  void stop() { actor_->stop(*this); }
  /// Moves the clock, waking the actor at each due timer.
  void advance(Duration duration) {
    const Instant end = now_ + duration;
    while (!exit_code) {
      auto due = timers_.end();
      for (auto t = timers_.begin(); t != timers_.end(); ++t) {
        if (t->second <= end && (due == timers_.end() || t->second < due->second)) due = t;
      }
      if (due == timers_.end()) break;
      const std::uint32_t timer = due->first;
      now_ = std::max(now_, due->second);
      timers_.erase(due);
      actor_->wake(*this, timer);
    }
    now_ = end;
  }
  template <WireMessage M>
  void deliver(ActorId from, const M& message) {
    deliver_bytes(from, M::kType, encode(message));
  }
  void deliver_bytes(ActorId from, MessageType type, Bytes body) {
    Envelope envelope;
    envelope.type = type;
    envelope.from = from;
    envelope.body = share(std::move(body));
    actor_->receive(*this, envelope);
  }

  [[nodiscard]] ActorId self() const override { return kSelf; }
  [[nodiscard]] Instant now() const override { return now_; }
  Random& random() override { return random_; }
  Status post(ActorId to, const Parcel& parcel) override {
    posted.emplace_back(to, parcel.type);
    parcels_.push_back(parcel);
    return {};
  }
  [[nodiscard]] bool has_room(ActorId, std::size_t) const override { return true; }
  void introduce(ActorId, const std::string&) override {}
  void forget(ActorId) override {}
  void wake_after(Duration delay, std::uint32_t timer) override { timers_[timer] = now_ + delay; }
  void count(std::string_view metric, double amount) override { metrics_.count(metric, amount); }
  void gauge(std::string_view metric, double value) override { metrics_.gauge(metric, value); }
  [[nodiscard]] const std::map<std::string, double, std::less<>>& metrics() const override { return metrics_.values(); }
  [[nodiscard]] double metric(std::string_view name) const { return metrics_.value(name); }
  SpanRing& spans() override { return spans_; }
  void log(Severity, std::string_view, Fields) override {}
  Storage& storage() override { check_failed(__FILE__, __LINE__, "storage", "the monitor writes no file"); }
  void exit(ExitCode code, std::string) override { exit_code = code; }

  /// Of one type, in the order in which they were sent.
  template <WireMessage M>
  [[nodiscard]] std::vector<M> sent() const {
    std::vector<M> out;
    for (const Parcel& parcel : parcels_) {
      if (parcel.type == M::kType) out.push_back(decode<M>(*parcel.body).value());
    }
    return out;
  }

  std::optional<ExitCode> exit_code;
  std::vector<std::pair<ActorId, MessageType>> posted;

 private:
  std::unique_ptr<Actor> actor_;
  std::vector<Parcel> parcels_;
  Instant now_{};
  Random random_{1};
  std::map<std::uint32_t, Instant> timers_;
  Metrics metrics_;
  SpanRing spans_;
};

}  // namespace hourglass
