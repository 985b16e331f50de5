// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/time.h"

namespace hourglass::zmq {

/// Pending wakes, one for each timer number, by time and then number.
class TimerQueue {
 public:
  static constexpr std::size_t kTimersMax = 4096;

  void set(std::uint32_t timer, Instant at) {
    HG_CHECK(when_.size() < kTimersMax || when_.contains(timer), "too many timers");
    if (const auto known = when_.find(timer); known != when_.end()) order_.erase({known->second, timer});
    when_[timer] = at;
    order_.insert({at, timer});
  }
  [[nodiscard]] std::optional<Instant> next() const { return order_.empty() ? std::nullopt : std::optional(order_.begin()->first); }
  /// The first timer that is due, taken out.
  std::optional<std::uint32_t> take_due(Instant now) {
    if (order_.empty() || order_.begin()->first > now) return std::nullopt;
    const std::uint32_t timer = order_.begin()->second;
    order_.erase(order_.begin());
    when_.erase(timer);
    return timer;
  }

 private:
  std::map<std::uint32_t, Instant> when_;
  std::set<std::pair<Instant, std::uint32_t>> order_;
};

}  // namespace hourglass::zmq
