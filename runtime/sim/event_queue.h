// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/time.h"

namespace hourglass::sim {

/// Actions by time, and in the order of their insertion where times are equal.
class EventQueue {
 public:
  static constexpr std::size_t kEventsMax = 20'000'000;

  void push(Instant at, std::function<void()> action) {
    HG_CHECK(heap_.size() < kEventsMax, "the simulated cluster has more pending events than can be meant");
    heap_.push_back({at, inserted_++, std::move(action)});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] Instant next_at() const { return heap_.front().at; }
  std::function<void()> pop() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    auto action = std::move(heap_.back().action);
    heap_.pop_back();
    return action;
  }

 private:
  struct Event {
    Instant at;
    std::uint64_t order;
    std::function<void()> action;
  };
  static bool later(const Event& a, const Event& b) { return a.at != b.at ? a.at > b.at : a.order > b.order; }

  std::vector<Event> heap_;
  std::uint64_t inserted_ = 0;
};

}  // namespace hourglass::sim
