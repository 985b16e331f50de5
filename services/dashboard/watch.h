// SPDX-License-Identifier: Apache-2.0
// Looks at each state of the run and keeps what the page says about it in words. Bounded: events, alerts and marks have limits.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "actors/monitor_state.h"
#include "services/dashboard/findings.h"
#include "services/dashboard/joins.h"
#include "services/dashboard/waits.h"

namespace hourglass {

/// One thread.
class Watch {
 public:
  static constexpr std::size_t kEventsMax = 500;
  static constexpr std::size_t kAlertsMax = 64;    ///< the gravest stay
  static constexpr double kStragglerRatio = 0.5;   ///< of the median speed of its role
  static constexpr double kStragglerSeconds = 10;  ///< below it for so long
  static constexpr double kNonfiniteSeconds = 30;  ///< how long a batch or step that was not finite stays an alert
  static constexpr double kDivergedFactor = 2;     ///< the loss against the least so far,
  static constexpr double kDivergedAbove = 0.5;    ///< and above it by so much

  /// States in the order in which they were published.
  void look(const DashboardState& state, std::int64_t unix_ms);
  void set_sizes(const ModelSizes& sizes) { sizes_ = sizes; }
  /// Never null.
  [[nodiscard]] std::shared_ptr<const Findings> findings() const { return findings_; }

 private:
  struct Seen {
    Presence presence = Presence::idle;
    double slow_since = -1;  ///< uptime; below 0: it keeps up
  };
  void start_run(const DashboardState& state);
  void note(Level level, std::string text);
  void mark_clocks(const DashboardState& state);
  void note_run(const DashboardState& state);
  void note_members(const DashboardState& state);
  void note_evaluations(const RunStatus& status);
  void note_commands(const std::deque<CommandState>& commands);
  void note_checkpoints(const DashboardState& state);
  void judge(const DashboardState& state);
  void judge_loss(const DashboardState& state);
  void judge_members(const DashboardState& state);
  void judge_speed(const DashboardState& state);
  void judge_waits(const DashboardState& state);
  void raise(ActorId who, std::string kind, Level level, std::string text);
  void settle_alerts();

  ModelSizes sizes_;
  std::int64_t unix_ms_ = 0;
  std::uint64_t run_ = 0;
  std::uint32_t generation_ = 0;
  Phase phase_ = Phase::waiting;
  bool registered_ = false;
  bool closed_ = false;
  std::string alarm_;
  std::size_t evaluations_ = 0;
  std::uint64_t command_ = 0;  ///< the newest that has been settled
  double checkpoints_ = -1, nonfinite_ = 0;
  double nonfinite_at_ = -1;  ///< uptime; below 0: never
  double least_loss_ = kUnknown;
  std::map<ActorId, Seen> seen_;
  Joins joins_;
  std::map<ActorId, ClockMark> marks_;
  std::map<ActorId, Wait> waits_;
  std::vector<Alert> alerts_;  ///< of the state before
  std::vector<Alert> raised_;  ///< of this one
  std::deque<Event> events_;
  std::uint64_t next_event_ = 1;
  std::shared_ptr<const Findings> findings_ = std::make_shared<const Findings>();
};

/// Of the newest report; 0 where it is not reported.
double metric_of(const ActorState& actor, std::string_view name);

}  // namespace hourglass
