// SPDX-License-Identifier: Apache-2.0
// The main loop of a process: the actor's Context, its timers, the stop request, the end.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "runtime/zmq/file_storage.h"
#include "runtime/zmq/log_limiter.h"
#include "runtime/zmq/post_office.h"
#include "runtime/zmq/timer_queue.h"
#include "runtime/zmq/zmq_reactor.h"

namespace hourglass::zmq {

class ZmqReactor::Loop final : public Context {
 public:
  static constexpr int kTimersPerTurn = 64;

  explicit Loop(ZmqOptions options);
  Status open();

  void host(std::unique_ptr<Actor> actor);
  bool step(Duration patience);
  [[nodiscard]] const PostOffice& office() const { return *office_; }
  [[nodiscard]] ExitCode exit_code() const { return exit_code_; }
  [[nodiscard]] const std::string& exit_reason() const { return exit_reason_; }
  [[nodiscard]] const Metrics& all_metrics() const { return metrics_; }

  // Context
  [[nodiscard]] ActorId self() const override { return options_.self; }
  [[nodiscard]] Instant now() const override { return Instant(std::chrono::steady_clock::now() - began_); }
  Random& random() override { return random_; }
  Status post(ActorId to, const Parcel& parcel) override { return office_->post(to, parcel, now()); }
  [[nodiscard]] bool has_room(ActorId to, std::size_t body_bytes) const override { return office_->has_room(to, body_bytes); }
  void introduce(ActorId peer, const std::string& endpoint) override { office_->introduce(peer, endpoint, now()); }
  void forget(ActorId peer) override { office_->forget(peer); }
  void wake_after(Duration delay, std::uint32_t timer) override { timers_.set(timer, now() + std::max(delay, Duration::zero())); }
  void count(std::string_view metric, double amount) override { metrics_.count(metric, amount); }
  void gauge(std::string_view metric, double value) override { metrics_.gauge(metric, value); }
  [[nodiscard]] const std::map<std::string, double, std::less<>>& metrics() const override { return metrics_.values(); }
  SpanRing& spans() override { return spans_; }
  /// Warnings that carry a field "peer" pass once a minute for each event and peer.
  void log(Severity severity, std::string_view event, Fields fields) override;
  Storage& storage() override { return *storage_; }
  void exit(ExitCode code, std::string reason) override;

 private:
  void look_at_stop_flag();
  bool run_timers();
  [[nodiscard]] Duration until_next_duty() const;
  void look_after();
  void finish();

  ZmqOptions options_;
  std::chrono::steady_clock::time_point began_;
  Random random_;
  Metrics metrics_;
  SpanRing spans_;
  TimerQueue timers_;
  LogLimiter limiter_;
  std::unique_ptr<Storage> storage_;
  FileStorage* files_ = nullptr;  ///< the same, where there is a folder
  std::unique_ptr<PostOffice> office_;
  std::unique_ptr<Actor> actor_;

  bool started_ = false;
  Instant next_duty_{};
  std::optional<Instant> stop_deadline_;
  bool exiting_ = false, ended_ = false;
  ExitCode exit_code_ = ExitCode::ok;
  std::string exit_reason_;
};

}  // namespace hourglass::zmq
