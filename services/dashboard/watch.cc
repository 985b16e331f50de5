// SPDX-License-Identifier: Apache-2.0
#include "services/dashboard/watch.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <tuple>
#include <utility>

#include "services/dashboard/state_json.h"

namespace hourglass {
namespace {
constexpr double kStepSmoothing = 0.2;

std::string real(double value, const char* format) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

bool speeds_up(const ActorState& actor) { return actor.id.role == Role::conv_worker && actor.presence == Presence::active; }

std::string with_host(const DashboardState& state, const ActorState& actor) {
  const std::string name = display_name(state, actor.id);
  return actor.name.empty() ? name : name + " (" + actor.name + ")";
}

std::string capital(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}
}  // namespace

double metric_of(const ActorState& actor, std::string_view name) {
  if (!actor.metrics) return 0;
  for (const MetricValue& value : *actor.metrics) {
    if (value.name == name) return value.value;
  }
  return 0;
}

void Watch::note(Level level, std::string text) {
  events_.push_back({next_event_++, unix_ms_, level, std::move(text)});
  if (events_.size() > kEventsMax) events_.pop_front();
}

/// Nothing of an earlier run may be held against this one; the log goes on.
void Watch::start_run(const DashboardState& state) {
  run_ = state.status->run;
  generation_ = state.generation;
  evaluations_ = 0;
  checkpoints_ = -1;
  nonfinite_ = 0;
  nonfinite_at_ = least_loss_ = -1;
  alarm_.clear();
  seen_.clear();
  marks_.clear();
  alerts_.clear();
  note(Level::info, "Run of " + state.status->model + " on " + state.status->dataset);
}

void Watch::look(const DashboardState& state, std::int64_t unix_ms) {
  unix_ms_ = unix_ms;
  if (state.status && state.status->run != run_) start_run(state);
  note_run(state);
  mark_clocks(state);
  waits_ = find_waits(state, marks_);
  note_members(state);
  raised_.clear();
  if (state.status && !state.closed) judge(state);
  settle_alerts();
  Findings next;
  next.sizes = sizes_;
  next.alerts = alerts_;
  next.events = events_;
  next.waits = waits_;
  joins_.look(state);
  next.restarts = joins_.restarts(state);
  findings_ = std::make_shared<const Findings>(std::move(next));
}

void Watch::note_run(const DashboardState& state) {
  if (state.registered && !std::exchange(registered_, true)) note(Level::info, "The aggregator has welcomed the monitor");
  if (state.status && state.generation > generation_) {
    note(Level::warning, "The aggregator has started again: generation " + std::to_string(state.generation));
    generation_ = state.generation;
    least_loss_ = -1;  // it went back to a checkpoint
  }
  if (state.phase != phase_) {
    phase_ = state.phase;
    note(Level::info, "Phase: " + std::string(name_of(phase_)));
  }
  if (state.status) note_evaluations(*state.status);
  note_commands(*state.commands);
  note_checkpoints(state);
  if (state.closed && !std::exchange(closed_, true)) note(Level::info, "The monitor has left the run");
}

void Watch::note_evaluations(const RunStatus& status) {
  if (status.history.size() < evaluations_) evaluations_ = status.history.size();  // back to a checkpoint
  // Of a run that was going on before we came, only the newest is news.
  if (status.history.size() > evaluations_ + 1) evaluations_ = status.history.size() - 1;
  for (; evaluations_ < status.history.size(); ++evaluations_) {
    const HistoryRow& row = status.history[evaluations_];
    note(Level::info, "Evaluated after " + std::to_string(row.samples) + " samples: accuracy " + real(100 * row.accuracy, "%.2f") +
                          " %, test loss " + real(row.loss, "%.4f"));
  }
}

void Watch::note_commands(const std::deque<CommandState>& commands) {
  for (const CommandState& command : commands) {
    if (command.asked.sequence <= command_ || command.fate == CommandFate::sent) continue;
    command_ = command.asked.sequence;
    const bool done = command.fate == CommandFate::done;
    note(done ? Level::info : Level::warning, "Command " + std::string(name_of(command.asked.order)) + ": " +
                                                  std::string(name_of(command.fate)) + (done ? "" : ", " + command.text));
  }
}

void Watch::note_checkpoints(const DashboardState& state) {
  const auto aggregator = std::ranges::find(state.actors, kAggregator, &ActorState::id);
  if (aggregator == state.actors.end() || !aggregator->metrics) return;
  const double count = metric_of(*aggregator, "checkpoints");
  if (checkpoints_ >= 0 && count > checkpoints_) note(Level::info, "Checkpoint " + real(count, "%.0f") + " of this process is on disk");
  checkpoints_ = count;
}

void Watch::note_members(const DashboardState& state) {
  if (state.closed || phase_ == Phase::finished) return;  // everybody leaves: no news
  std::map<ActorId, Seen> next;
  for (const ActorState& actor : state.actors) {
    const auto before = seen_.find(actor.id);
    Seen& seen = next[actor.id];
    if (before != seen_.end()) seen = before->second;
    seen.presence = actor.presence;
    const bool was_here = before != seen_.end() && before->second.presence != Presence::gone;
    const std::string name = capital(with_host(state, actor));
    if (actor.presence != Presence::gone && !was_here) note(Level::info, name + (before == seen_.end() ? " has joined" : " is back"));
    if (actor.presence == Presence::gone && was_here) note(Level::warning, name + " is gone");
  }
  seen_ = std::move(next);
}

void Watch::mark_clocks(const DashboardState& state) {
  std::map<ActorId, ClockMark> next;
  const bool stepping = state.phase == Phase::training && state.status && !state.status->held;
  for (const ActorState& actor : state.actors) {
    const auto before = marks_.find(actor.id);
    ClockMark mark = before == marks_.end() ? ClockMark{actor.clock, state.uptime_seconds, 0} : before->second;
    if (!stepping || actor.presence == Presence::idle) mark.moved_at = state.uptime_seconds;
    if (actor.clock != mark.clock) {
      const double rises = actor.clock > mark.clock ? static_cast<double>(actor.clock - mark.clock) : 1;
      const double step = (state.uptime_seconds - mark.moved_at) / rises;
      mark = {actor.clock, state.uptime_seconds,
              mark.step_seconds == 0 ? step : mark.step_seconds + kStepSmoothing * (step - mark.step_seconds)};
    }
    next[actor.id] = mark;
  }
  marks_ = std::move(next);
}

void Watch::raise(ActorId who, std::string kind, Level level, std::string text) {
  raised_.push_back({std::move(kind), who, level, std::move(text), unix_ms_});
}

void Watch::judge(const DashboardState& state) {
  const RunStatus& status = *state.status;
  if (!status.alarm.empty()) raise(kAggregator, "alarm", Level::error, status.alarm);
  if (!ledger_sums(status).balanced) raise(kAggregator, "ledger", Level::error, "The gradient ledger does not add up");
  if (state.phase == Phase::finished) return;
  if (state.status_age_seconds > kSilentSeconds) raise(kAggregator, "silent", Level::error, "The aggregator is silent");
  judge_loss(state);
  judge_members(state);
  if (state.phase != Phase::training || status.held) return;
  judge_speed(state);
  judge_waits(state);
}

void Watch::judge_loss(const DashboardState& state) {
  const RunStatus& status = *state.status;
  if (status.samples_done == 0) return;
  double nonfinite = 0;
  for (const ActorState& actor : state.actors) nonfinite += metric_of(actor, "batches_nonfinite") + metric_of(actor, "steps_nonfinite");
  for (const GroupStatus& group : status.groups) nonfinite += static_cast<double>(count_of(group, Verdict::nonfinite));
  if (nonfinite > nonfinite_) nonfinite_at_ = state.uptime_seconds;
  nonfinite_ = nonfinite;  // it falls where a process leaves
  const bool recent = nonfinite_at_ >= 0 && state.uptime_seconds - nonfinite_at_ < kNonfiniteSeconds;
  if (!std::isfinite(status.loss) || recent) {
    raise(kAggregator, "nonfinite", Level::error,
          !std::isfinite(status.loss) ? "The training loss is not a finite number"
                                      : "Batches or gradients that are not finite are thrown away");
  }
  if (!std::isfinite(status.loss)) return;
  if (!(least_loss_ >= 0) || status.loss < least_loss_) least_loss_ = status.loss;
  if (!status.alarm.empty()) return;  // the aggregator has said so
  if (status.loss > std::max(kDivergedFactor * least_loss_, least_loss_ + kDivergedAbove)) {
    raise(kAggregator, "divergence", Level::error, "The training loss has risen far above its least value, " + real(least_loss_, "%.4f"));
  }
}

void Watch::judge_members(const DashboardState& state) {
  for (const ActorState& actor : state.actors) {
    const std::string name = capital(with_host(state, actor));
    if (actor.presence == Presence::gone) {
      raise(actor.id, "gone", Level::warning, name + " is gone");
    } else if (actor.last_seen_seconds > kSilentSeconds) {
      raise(actor.id, "silent", Level::error, name + " is silent: no heartbeat");
    }
  }
}

void Watch::judge_speed(const DashboardState& state) {
  std::vector<double> speeds;
  for (const ActorState& actor : state.actors) {
    if (speeds_up(actor) && std::isfinite(actor.samples_per_second)) speeds.push_back(actor.samples_per_second);
  }
  if (speeds.size() < 2) return;
  // The upper of the middle two: of two workers, the slow one is compared with the fast one.
  const auto middle = speeds.begin() + static_cast<std::ptrdiff_t>(speeds.size() / 2);
  std::nth_element(speeds.begin(), middle, speeds.end());
  for (const ActorState& actor : state.actors) {
    Seen& seen = seen_[actor.id];
    const bool slow = speeds_up(actor) && actor.samples_per_second < kStragglerRatio * *middle && !waits_.contains(actor.id);
    if (!slow) {
      seen.slow_since = -1;
    } else if (seen.slow_since < 0) {
      seen.slow_since = state.uptime_seconds;
    } else if (state.uptime_seconds - seen.slow_since >= kStragglerSeconds) {
      raise(actor.id, "straggler", Level::warning,
            capital(with_host(state, actor)) + " is a straggler: less than half as fast as the median CONV worker");
    }
  }
}

void Watch::judge_waits(const DashboardState& state) {
  std::map<ActorId, std::size_t> waited_for;
  for (const auto& [who, wait] : waits_) {
    for (const ActorId on : wait.on) ++waited_for[on];
  }
  for (const auto& [on, count] : waited_for) {
    const auto found = std::ranges::find(state.actors, on, &ActorState::id);
    const std::string name = found == state.actors.end() ? display_name(state, on) : with_host(state, *found);
    const std::string clock = on.role == Role::conv_worker ? " at clock " + std::to_string(found->clock) : "";
    raise(on, "awaited", Level::error, std::to_string(count) + (count == 1 ? " worker waits for " : " workers wait for ") + name + clock);
  }
}

/// What is still raised keeps its time; what is new, or has passed, is news.
void Watch::settle_alerts() {
  const auto same = [](const Alert& a, const Alert& b) { return a.who == b.who && a.kind == b.kind; };
  for (Alert& alert : raised_) {
    const auto before = std::ranges::find_if(alerts_, [&](const Alert& old) { return same(old, alert); });
    if (before != alerts_.end()) {
      alert.since_ms = before->since_ms;
    } else if (alert.kind != "gone") {  // note_members has said so
      note(alert.level, alert.text);
    }
  }
  for (const Alert& old : alerts_) {
    if (old.kind != "gone" && std::ranges::none_of(raised_, [&](const Alert& alert) { return same(old, alert); })) {
      note(Level::info, "Passed: " + old.text);
    }
  }
  std::ranges::stable_sort(
      raised_, [](const Alert& a, const Alert& b) { return std::tuple(b.level, a.since_ms) < std::tuple(a.level, b.since_ms); });
  if (raised_.size() > kAlertsMax) raised_.resize(kAlertsMax);
  alerts_ = raised_;
}

}  // namespace hourglass
