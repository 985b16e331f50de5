// SPDX-License-Identifier: Apache-2.0
// Carries out the strikes of a nemesis on the children of a supervised run, sees that they happened, and times the recoveries.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "services/chaos/memory_watch.h"
#include "services/chaos/nemesis.h"
#include "services/supervisor/train_run.h"

namespace hourglass::chaos {

enum class Recovery : std::uint8_t {
  awaited,       ///< not back yet
  at_work,       ///< back at work after `recovered_seconds`
  kept_working,  ///< of a stop that was too short for the process to be given up
  run_ended,     ///< the run had no more work before it could show
  struck_again,  ///< before it was back
};
std::string_view name_of(Recovery recovery);

/// A strike that was carried out.
struct Blow {
  double at = 0;  ///< seconds since the run began
  std::string name;
  Role role = Role::conv_worker;
  Action action = Action::kill;
  pid_t process = 0;
  double stop_seconds = 0;
  bool seen = false;  ///< the process was seen dead, or stopped
  std::string phase;  ///< of the run, when it came
  Recovery recovery = Recovery::awaited;
  double recovered_seconds = 0;  ///< since the signal; after a stop since SIGCONT
};

/// A child that ended though nobody had struck it.
struct Loss {
  double at = 0;
  std::string name;
  pid_t process = 0;
};

class Tormentor {
 public:
  explicit Tormentor(NemesisPlan plan);
  ~Tormentor();  ///< whoever is still stopped goes on
  Tormentor(const Tormentor&) = delete;
  Tormentor& operator=(const Tormentor&) = delete;

  /// At each turn of the supervisor. `now`: seconds on any steady clock.
  void look(const std::vector<ChildView>& children, const StatusReport& status, double now);
  /// The run has ended.
  void close();

  [[nodiscard]] const std::vector<Blow>& blows() const { return blows_; }
  [[nodiscard]] const std::vector<Loss>& losses() const { return losses_; }
  [[nodiscard]] const MemoryWatch& memory() const { return memory_; }
  [[nodiscard]] std::uint64_t samples_total() const { return samples_total_; }

 private:
  /// A child as it was seen last, and what is awaited of it.
  struct Row {
    std::string name;
    Role role = Role::monitor;
    pid_t process = 0;
    bool expected_to_end = false;
    std::optional<std::size_t> blow;  ///< index of the newest, until its recovery is known
    std::optional<double> stopped_until;
    double since = 0;            ///< the signal, or SIGCONT
    std::uint64_t log_from = 0;  ///< what is awaited is looked for behind this
    bool joins_again = false;    ///< after a stop that was too long
  };
  Row& row_of(const ChildView& child);
  void notice(Row& row, const ChildView& child, double now);
  void release(Row& row, const ChildView& child, double now);
  void follow(Row& row, const ChildView& child, double now);
  void settle(Row& row, Recovery recovery, double now);
  void strike(const std::vector<ChildView>& children, double now);

  Nemesis nemesis_;
  std::optional<Strike> next_;
  std::optional<double> run_began_;  ///< first look
  std::optional<double> began_;      ///< of the nemesis: training
  double sampled_ = 0;
  std::string phase_;
  std::uint64_t samples_total_ = 0;
  std::vector<Row> rows_;
  std::vector<Blow> blows_;
  std::vector<Loss> losses_;
  MemoryWatch memory_;
};

}  // namespace hourglass::chaos
