// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/check.h"
#include "runtime/zmq/zmq_reactor.h"
#include "tests/runtime/recording_actor.h"

namespace hourglass {

/// Options for the loopback, without heartbeats. `aggregator`: where the aggregator listens; empty for itself.
inline zmq::ZmqOptions loopback_options(ActorId id, const std::string& aggregator = "") {
  zmq::ZmqOptions options;
  options.self = id;
  options.bind = "tcp://127.0.0.1:0";
  options.aggregator = aggregator;
  options.heartbeat_interval = Duration::zero();
  options.linger = std::chrono::milliseconds(200);
  options.seed = 1;
  return options;
}

/// A reactor with its actor on a thread of its own, as if it were a process. Everything the actor does happens under one lock, so that
/// the test can look at it. Waiting ends after a minute, which only failing tests reach.
class SocketProcess final : public Actor {
 public:
  static constexpr std::chrono::seconds kLongTime{60};
  struct Ending {
    ExitCode code;
    std::string reason;
  };
  explicit SocketProcess(zmq::ZmqOptions options, const std::function<void(RecordingActor&)>& prepare = {}) {
    options.stop = &stop_;
    auto created = zmq::ZmqReactor::create(options);
    HG_CHECK(created.ok(), created.error().text);
    reactor_ = std::move(*created);
    if (prepare) prepare(actor_);
    reactor_->host(options.self, std::make_unique<Forward>(*this));
    thread_ = std::thread([this] { run(); });
  }
  ~SocketProcess() override {
    leave_.store(true);
    thread_.join();
  }

  void act(const std::function<void(Context&)>& action) {
    std::unique_lock lock(mutex_);
    action_ = &action;
    const bool done = changed_.wait_for(lock, kLongTime, [this] { return action_ == nullptr; });
    HG_CHECK(done, "the reactor's thread does not turn");
  }
  bool wait(const std::function<bool(const RecordingActor&)>& predicate, std::chrono::milliseconds patience = kLongTime) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, [&] { return predicate(actor_); });
  }
  std::optional<Ending> wait_for_end() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kLongTime, [this] { return ended_; })) return std::nullopt;
    return Ending{reactor_->exit_code(), reactor_->exit_reason()};
  }
  void look(const std::function<void(const RecordingActor&)>& action) {
    const std::lock_guard lock(mutex_);
    action(actor_);
  }
  double metric(std::string_view name) {
    double value = 0;
    act([&](Context& context) {
      const auto found = context.metrics().find(name);
      if (found != context.metrics().end()) value = found->second;
    });
    return value;
  }
  /// False after a long time.
  bool wait_for_metric(std::string_view name, double at_least) {
    const auto deadline = std::chrono::steady_clock::now() + kLongTime;
    while (std::chrono::steady_clock::now() < deadline) {
      if (metric(name) >= at_least) return true;
    }
    return false;
  }
  void request_stop() { stop_.request(); }
  std::uint16_t port() const { return reactor_->bound_port(); }
  std::string endpoint() const { return reactor_->bound_endpoint(); }

 private:
  struct Forward final : Actor {
    explicit Forward(SocketProcess& process_) : process(process_) {}
    void start(Context& c) override { process.start(c); }
    void receive(Context& c, const Envelope& e) override { process.receive(c, e); }
    void wake(Context& c, std::uint32_t timer) override { process.wake(c, timer); }
    void stop(Context& c) override { process.stop(c); }
    SocketProcess& process;
  };

  template <class Call>
  void locked(Call call) {
    {
      const std::lock_guard lock(mutex_);
      call();
    }
    changed_.notify_all();
  }
  void start(Context& c) override {
    context_ = &c;
    locked([&] { actor_.start(c); });
  }
  void receive(Context& c, const Envelope& e) override {
    locked([&] { actor_.receive(c, e); });
  }
  void wake(Context& c, std::uint32_t timer) override {
    locked([&] { actor_.wake(c, timer); });
  }
  void stop(Context& c) override {
    locked([&] { actor_.stop(c); });
  }

  void run() {
    while (!leave_.load() && reactor_->step(std::chrono::milliseconds(2))) {
      locked([this] {
        if (!action_ || !context_) return;
        (*action_)(*context_);
        action_ = nullptr;
      });
    }
    locked([this] { ended_ = true; });
  }

  zmq::StopFlag stop_;
  std::unique_ptr<zmq::ZmqReactor> reactor_;
  Context* context_ = nullptr;  ///< of the thread
  std::mutex mutex_;
  std::condition_variable changed_;
  RecordingActor actor_;                                   ///< under the mutex
  const std::function<void(Context&)>* action_ = nullptr;  ///< under the mutex
  bool ended_ = false;                                     ///< under the mutex
  std::atomic<bool> leave_{false};
  std::thread thread_;
};

}  // namespace hourglass
