// SPDX-License-Identifier: Apache-2.0
// What `hourglass chaos` does to a run, and when: a bounded random sequence that follows from its seed alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/random.h"

namespace hourglass::chaos {

enum class Action : std::uint8_t {
  kill,  ///< SIGKILL
  stop,  ///< SIGSTOP, and SIGCONT after a while
  term,  ///< SIGTERM
};
std::string_view name_of(Action action);

/// Seconds between two strikes: "5-20", or "7" for always the same.
struct Pauses {
  double least = 5, most = 20;
};
std::optional<Pauses> parse_pauses(std::string_view text);
/// "conv,fc,loader,tree,monitor,aggregator", or roles by their whole names. Nothing where one is unknown, or there is none.
std::optional<std::vector<Role>> parse_roles(std::string_view text);
std::optional<std::vector<Action>> parse_actions(std::string_view text);

struct NemesisPlan {
  double seconds = 120;  ///< no strike after this
  Pauses pauses;
  std::vector<Role> roles;
  std::vector<Action> actions;
  double stop_seconds_max = 15;
  std::uint64_t seed = 1;
};

struct Strike {
  double at = 0;  ///< seconds since the nemesis began
  Action action = Action::kill;
  double stop_seconds = 0;  ///< of Action::stop
  /// Which of the roles that the run has, and which process of it: modulo how many there are.
  std::uint64_t role = 0, victim = 0;
};

class Nemesis {
 public:
  explicit Nemesis(NemesisPlan plan) : plan_(std::move(plan)), random_(plan_.seed) {}
  /// The next strike; nothing where its time would be up.
  std::optional<Strike> next();
  [[nodiscard]] const std::vector<Role>& roles() const { return plan_.roles; }

 private:
  static constexpr double kShortestStop = 0.5;
  NemesisPlan plan_;
  Random random_;
  double at_ = 0;
};

}  // namespace hourglass::chaos
