// SPDX-License-Identifier: Apache-2.0
// A worker's units of work: how many local steps each has, of how many batches, and to which of them a batch belongs. A unit ends in one
// push. Its size is fixed when its first batch starts; several may be open at a time, since batches are started before earlier ones have
// come back.
#pragma once

#include <cstdint>
#include <deque>

#include "learning/params/local_policy.h"

namespace hourglass {

class LocalUnits {
 public:
  explicit LocalUnits(params::LocalWork work = {}) : work_(work) {}

  /// Of units that start from now on.
  void set(params::LocalWork work) { work_ = work; }
  [[nodiscard]] params::LocalWork work() const { return work_; }

  /// The unit that the next batch would belong to, where the next push has this clock.
  [[nodiscard]] std::uint64_t next(std::uint64_t clock) const;
  /// A batch was started.
  void started();
  /// The batch that was started last came to nothing.
  void dropped();
  /// A batch came back. True where it completes a step: `step_batches()` of them were taken together.
  bool learned();
  [[nodiscard]] std::uint32_t step_batches() const { return in_step_; }  ///< learned, and not in a step yet
  void stepped() { in_step_ = 0; }

  /// Of the oldest open unit.
  [[nodiscard]] bool begun() const { return learned_ > 0; }
  [[nodiscard]] bool complete() const { return !open_.empty() && learned_ >= open_.front().batches; }
  [[nodiscard]] std::uint32_t steps() const { return open_.empty() ? work_.steps : open_.front().work.steps; }
  /// It was pushed, complete or not, or dropped.
  void close();

 private:
  struct Unit {
    params::LocalWork work;
    std::uint64_t batches = 0;  ///< that it takes
    std::uint64_t started = 0;
  };
  params::LocalWork work_;
  std::deque<Unit> open_;      ///< at most as many as batches are under way, and one
  std::uint64_t learned_ = 0;  ///< batches of the oldest
  std::uint32_t in_step_ = 0;
};

}  // namespace hourglass
