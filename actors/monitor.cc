// SPDX-License-Identifier: Apache-2.0
#include "actors/monitor.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <tuple>

#include "actors/monitor_metrics.h"
#include "actors/monitor_spans.h"
#include "runtime/membership_client.h"

namespace hourglass {
namespace {
using namespace std::chrono_literals;

constexpr std::uint32_t kTickTimer = 1;
constexpr std::uint32_t kLeaveTimer = 2;
constexpr std::uint32_t kCommandTimer = 3;
constexpr Duration kTick = 1s;
constexpr Duration kCommandTick = 200ms;
/// Changes are published at once, yet not more often than this.
constexpr Duration kPublishPause = 200ms;
/// How long the others' last reports may take after the word that the run is over.
constexpr Duration kFarewellMax = 2s;
/// A member that has been gone for this long is shown no more.
constexpr Duration kGoneShown = 120s;
constexpr double kRowSecondsMin = 0.5;
constexpr double kEtaSmoothing = 0.2;

float as_float(double value) { return std::abs(value) <= std::numeric_limits<float>::max() ? static_cast<float>(value) : std::nanf(""); }

bool is_worker(Role role) { return role == Role::conv_worker || role == Role::fc_worker; }

class Monitor final : public Handles<Monitor, Welcome, Refuse, Roster, RunPhase, HeartbeatReply, MetricReport, RunStatus, CommandReply> {
 public:
  Monitor(StateSink* sink, CommandSource* commands, ProcessIdentity identity)
      : sink_(sink), identity_(std::move(identity)), client_(identity_, {}), commands_(commands) {}

  void start(Context& context) override {
    started_ = context.now();
    client_.start(context);
    publish(context);
    context.wake_after(kTick, kTickTimer);
    context.wake_after(kCommandTick, kCommandTimer);
  }
  void wake(Context& context, std::uint32_t timer) override;
  void stop(Context& context) override { leave(context, "stopped"); }

  void on(Context& context, ActorId from, Welcome&& message);
  void on(Context& context, ActorId from, Refuse&& message);
  void on(Context& context, ActorId from, Roster&& message);
  void on(Context& context, ActorId from, RunPhase&& message);
  void on(Context& context, ActorId from, HeartbeatReply&& message);
  void on(Context& context, ActorId from, MetricReport&& message);
  void on(Context& context, ActorId from, RunStatus&& message);
  void on(Context& context, ActorId from, CommandReply&& message);

 private:
  [[nodiscard]] bool of_aggregator(Context& context, ActorId from) const;
  [[nodiscard]] bool is_member(ActorId id) const { return id == kAggregator || client_.find(id) != nullptr; }
  void begin_run();
  void add_row(const RunStatus& status, Instant now);
  void own_metrics(Context& context);
  void forget_gone(Context& context);
  void changed(Context& context);
  void publish(Context& context);
  [[nodiscard]] bool is_hidden(ActorId id, Instant now) const;
  void fill_actors(DashboardState& state, Context& context) const;
  void fill_traffic(DashboardState& state, Instant now) const;
  void fill_metrics(ActorState& row, Instant now) const;
  void leave_when_complete(Context& context);
  void leave(Context& context, const std::string& reason);

  StateSink* sink_;
  ProcessIdentity identity_;
  MembershipClient client_;
  CommandPost commands_;
  Instant started_{};
  std::uint64_t run_ = 0;
  std::shared_ptr<const Job> job_;
  std::shared_ptr<const RunStatus> status_;
  Instant status_at_{};
  Phase phase_ = Phase::waiting;
  double smooth_rate_ = 0;  ///< samples per second, for the time left
  MetricBook book_;
  SpanBook spans_;
  std::map<ActorId, Instant> gone_since_;  ///< of those that the newest status calls gone
  std::uint64_t strangers_ = 0;
  std::uint64_t own_reports_ = 0;
  Series series_;
  std::shared_ptr<const Series> series_published_ = std::make_shared<const Series>();
  bool series_changed_ = false;
  std::uint64_t sequence_ = 0;
  std::optional<Instant> published_at_;
  bool leaving_ = false;
  bool closed_ = false;
};

bool Monitor::of_aggregator(Context& context, ActorId from) const {
  if (from == kAggregator) return true;
  context.count("not_from_aggregator", 1);
  return false;
}

void Monitor::wake(Context& context, std::uint32_t timer) {
  if (client_.wake(context, timer)) return;
  if (timer == kLeaveTimer) return leave(context, "the run is over");
  if (timer == kCommandTimer && !closed_) {
    context.wake_after(kCommandTick, kCommandTimer);
    if (commands_.look(context, client_.generation(), client_.joined())) changed(context);
  }
  if (timer != kTickTimer || closed_) return;
  own_metrics(context);
  forget_gone(context);
  spans_.forget_old(seconds(context.now() - started_));
  publish(context);
  context.wake_after(kTick, kTickTimer);
}

void Monitor::on(Context& context, ActorId from, Welcome&& message) {
  if (!of_aggregator(context, from) || !client_.on(context, std::move(message))) return;
  if (client_.welcome().run != run_) begin_run();
  phase_ = Phase::waiting;
  job_ = std::make_shared<const Job>(client_.job());
  changed(context);
}

/// Nothing of an earlier run may show in this one.
void Monitor::begin_run() {
  run_ = client_.welcome().run;
  status_ = nullptr;
  book_ = {};
  spans_ = {};
  gone_since_.clear();
  series_ = {};
  series_changed_ = true;
  smooth_rate_ = 0;
}

void Monitor::on(Context& context, ActorId from, Refuse&& message) {
  if (!of_aggregator(context, from)) return;
  if (message.code == Refusal::run_over) closed_ = true;  // the client ends the process
  client_.on(context, message);
  changed(context);
}

void Monitor::on(Context& context, ActorId from, Roster&& message) {
  if (!of_aggregator(context, from) || !client_.on(context, std::move(message))) return;
  changed(context);
  leave_when_complete(context);
}

void Monitor::on(Context& context, ActorId from, RunPhase&& message) {
  if (!of_aggregator(context, from) || !client_.on(context, message)) return;
  phase_ = client_.phase();
  changed(context);
  leave_when_complete(context);
}

void Monitor::on(Context& context, ActorId from, HeartbeatReply&& message) {
  if (of_aggregator(context, from)) client_.on(context, message);
}

void Monitor::on(Context& context, ActorId from, MetricReport&& message) {
  // A worker's last report may come after the roster that no longer names it.
  if (!is_member(from) && book_.find(from) == nullptr) {
    ++strangers_;
    return;
  }
  const ActorMetrics* known = book_.find(from);
  if (known == nullptr || message.sequence > known->sequence) spans_.report(from, message, seconds(context.now() - started_));
  if (spans_.refused() > 0) context.gauge("spans_refused", static_cast<double>(spans_.refused()));
  book_.report(from, message, context.now());
  if (message.last) leave_when_complete(context);
}

void Monitor::on(Context& context, ActorId from, RunStatus&& message) {
  if (!of_aggregator(context, from) || !client_.joined()) return;
  if (message.run != run_ || message.generation != client_.generation()) return context.count("statuses_of_other_runs", 1);
  const bool turned = message.phase != phase_;
  phase_ = std::max(phase_, message.phase);
  const double rate = message.samples_per_second;
  smooth_rate_ = smooth_rate_ == 0 ? rate : smooth_rate_ + kEtaSmoothing * (rate - smooth_rate_);
  std::map<ActorId, Instant> gone;
  for (const MemberStatus& member : message.members) {
    if (!member.gone) continue;
    const auto known = gone_since_.find(member.id);
    gone[member.id] = known == gone_since_.end() ? context.now() : known->second;
  }
  gone_since_ = std::move(gone);
  add_row(message, context.now());
  status_ = std::make_shared<const RunStatus>(std::move(message));
  status_at_ = context.now();
  if (turned) changed(context);
  leave_when_complete(context);
}

void Monitor::on(Context& context, ActorId from, CommandReply&& message) {
  if (of_aggregator(context, from) && commands_.on(message)) changed(context);
}

/// Once the run is over: waits for the last status and for the last report of everybody who reported at all, so that the final state has
/// all bytes.
void Monitor::leave_when_complete(Context& context) {
  if (phase_ != Phase::finished || closed_) return;
  if (!leaving_) context.wake_after(kFarewellMax, kLeaveTimer);
  leaving_ = true;
  if (!status_ || status_->phase != Phase::finished) return;
  for (const Member& member : client_.roster().members) {
    const ActorMetrics* metrics = book_.find(member.id);
    if (member.id != context.self() && member.id != kAggregator && metrics != nullptr && !metrics->last) return;
  }
  leave(context, "the run is over");
}

void Monitor::add_row(const RunStatus& status, Instant now) {
  if (status.phase == Phase::waiting || status.phase == Phase::finished) return;
  const double step = status.seconds - series_.newest_time();
  if (!series_.empty() && std::abs(step) < kRowSecondsMin) return;
  SeriesValues values;
  const auto set = [&](Column column, double value) { values[static_cast<std::size_t>(column)] = as_float(value); };
  set(Column::loss, status.samples_done > 0 ? status.loss : kUnknown);
  set(Column::accuracy, status.history.empty() ? kUnknown : status.history.back().accuracy);
  set(Column::samples_per_second, status.samples_per_second);
  set(Column::samples, static_cast<double>(status.samples_done));
  set(Column::version, status.groups.empty() ? kUnknown : static_cast<double>(status.groups[0].version));
  const SentBytes rates = book_.rates(now), totals = book_.totals();
  double sum = 0;
  for (std::size_t i = 0; i < kTraffics; ++i) {
    values[kNamedColumns + i] = as_float(rates.socket[i]);
    sum += rates.socket[i];
  }
  set(Column::bytes_per_second, sum);
  set(Column::bytes, std::accumulate(totals.socket.begin(), totals.socket.end(), 0.0));
  series_.add(status.seconds, values);
  series_changed_ = true;
}

/// The monitor is a process of the run like the others, but sends itself no message.
void Monitor::own_metrics(Context& context) {
  MetricReport report;
  report.sequence = ++own_reports_;
  report.uptime_seconds = seconds(context.now() - started_);
  for (const auto& [name, value] : context.metrics()) {
    if (report.values.size() < limits::kMetrics && std::isfinite(value)) report.values.push_back({name, value});
  }
  book_.report(context.self(), report, context.now());
}

void Monitor::forget_gone(Context& context) {
  book_.retire([&](ActorId id, const ActorMetrics& metrics) {
    return id != context.self() && !is_member(id) && context.now() - metrics.heard > kGoneShown;
  });
}

void Monitor::changed(Context& context) {
  if (!published_at_ || context.now() - *published_at_ >= kPublishPause) publish(context);  // else the tick does
}

void Monitor::publish(Context& context) {
  if (sink_ == nullptr) return;
  const Instant now = context.now();
  published_at_ = now;
  if (series_changed_) series_published_ = std::make_shared<const Series>(series_);
  series_changed_ = false;
  auto state = std::make_shared<DashboardState>();
  state->sequence = ++sequence_;
  state->uptime_seconds = seconds(now - started_);
  state->registered = client_.joined();
  state->closed = closed_;
  state->build = identity_.build;
  state->generation = client_.generation();
  state->phase = phase_;
  state->job = job_;
  state->status = status_;
  if (status_) state->status_age_seconds = seconds(now - status_at_);
  if (status_ && phase_ == Phase::training && smooth_rate_ > 0 && status_->samples_total > status_->samples_done) {
    state->eta_seconds = static_cast<double>(status_->samples_total - status_->samples_done) / smooth_rate_;
  }
  fill_actors(*state, context);
  fill_traffic(*state, now);
  state->series = series_published_;
  state->spans = spans_.snapshot();
  state->reports_of_strangers = strangers_;
  state->commands = commands_.states();
  sink_->publish(std::move(state));
}

/// Long gone, by the aggregator's word. At the end of a run everybody leaves, and then all are shown.
bool Monitor::is_hidden(ActorId id, Instant now) const {
  const auto gone = gone_since_.find(id);
  return gone != gone_since_.end() && now - gone->second > kGoneShown && !closed_;
}

void Monitor::fill_actors(DashboardState& state, Context& context) const {
  const Instant now = context.now();
  std::map<ActorId, ActorState> rows;
  for (const Member& member : client_.roster().members) {
    ActorState& row = rows[member.id];
    row.number = member.number;
    row.name = member.name;
    row.endpoint = member.endpoint;
    row.presence = is_worker(member.id.role) && !member.active ? Presence::idle : Presence::active;
  }
  if (status_) {
    const double age = seconds(now - status_at_);
    for (const MemberStatus& member : status_->members) {
      if (is_hidden(member.id, now)) {
        rows.erase(member.id);
        continue;
      }
      ActorState& row = rows[member.id];
      row.number = member.number;
      row.name = member.name;
      row.endpoint = member.endpoint;
      row.presence = member.gone ? Presence::gone : is_worker(member.id.role) && !member.active ? Presence::idle : Presence::active;
      row.clock = member.clock;
      row.version = member.version;
      row.last_seen_seconds = member.last_seen_seconds + age;
      row.progress_age_seconds = static_cast<double>(member.progress_age_ms) / 1000.0;
    }
  }
  for (const auto& [id, metrics] : book_.actors()) {
    if (rows.contains(id) || is_hidden(id, now)) continue;
    const bool heard = !metrics.last && seconds(now - metrics.heard) <= MetricBook::kFreshSeconds;
    ActorState& row = rows[id];
    row.presence = heard ? Presence::active : Presence::gone;
    if (id == context.self()) row.name = identity_.name;
  }
  for (auto& [id, row] : rows) {
    row.id = id;
    fill_metrics(row, now);
    state.actors.push_back(std::move(row));
  }
  std::stable_sort(state.actors.begin(), state.actors.end(),
                   [](const ActorState& a, const ActorState& b) { return std::tie(a.id.role, a.number) < std::tie(b.id.role, b.number); });
}

void Monitor::fill_metrics(ActorState& row, Instant now) const {
  const ActorMetrics* metrics = book_.find(row.id);
  if (metrics == nullptr) return;
  row.report_age_seconds = seconds(now - metrics->heard);
  row.metrics = metrics->newest;
  if (metrics->samples >= 0) row.samples = metrics->samples;
  if (metrics->memory_bytes >= 0 && row.presence != Presence::gone) row.memory_bytes = metrics->memory_bytes;
  if (!MetricBook::fresh(*metrics, now) || row.presence == Presence::gone) return;
  if (metrics->samples >= 0) row.samples_per_second = metrics->samples_per_second;
  if (metrics->cpu_seconds >= 0) row.cpu_ratio = metrics->cpu_ratio;
  double sum = 0;
  for (const double rate : metrics->sent_per_second.socket) sum += rate;
  row.sent_bytes_per_second = sum;
  row.sent_by_kind = std::make_shared<const std::array<double, kTraffics>>(metrics->sent_per_second.socket);
}

void Monitor::fill_traffic(DashboardState& state, Instant now) const {
  const SentBytes totals = book_.totals(), rates = book_.rates(now);
  for (std::size_t i = 0; i < kTraffics; ++i) {
    state.traffic[i] = {totals.payload[i], totals.socket[i], rates.payload[i], rates.socket[i]};
    state.bytes_per_second += rates.socket[i];
  }
}

void Monitor::leave(Context& context, const std::string& reason) {
  if (closed_) return;
  closed_ = true;
  own_metrics(context);
  publish(context);
  client_.leave(context, ExitCode::ok, reason);
}

}  // namespace

std::unique_ptr<Actor> make_monitor(StateSink* sink, CommandSource* commands, ProcessIdentity identity) {
  return std::make_unique<Monitor>(sink, commands, std::move(identity));
}

}  // namespace hourglass
