// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "base/time.h"

namespace hourglass::checks {

/// What must always hold and did not: one line each, the first ones kept.
class Violations {
 public:
  static constexpr std::size_t kKept = 20;

  /// `rule`: the name of what was broken, as "exactly once".
  void add(Instant at, const std::string& rule, const std::string& text) {
    ++count_;
    if (lines_.size() >= kKept) return;
    char when[32];
    std::snprintf(when, sizeof when, "%.4f s", seconds(at.time_since_epoch()));
    lines_.push_back(std::string(when) + ": " + rule + ": " + text);
  }
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  std::vector<std::string> lines_;
  std::size_t count_ = 0;
};

}  // namespace hourglass::checks
