// SPDX-License-Identifier: Apache-2.0
// What TensorBoard is told of a run: its states as rows of scalars whose steps, training samples, rise within each tag of a file.
//
//   train/loss  test/loss  test/accuracy                      each test row at the samples of its evaluation
//   speed/samples_per_second
//   bytes_per_second/total  bytes_per_second/<kind>           socket bytes, of the kinds that have been sent at all
//   bytes/total                                               socket bytes so far
//   staleness/mean  staleness/max  run/version                mean and maximum so far; version of the CONV group
#pragma once

#include <cstdint>
#include <vector>

#include "actors/monitor_state.h"
#include "services/tensorboard/event_file.h"

namespace hourglass::tensorboard {

/// Of one run.
class ScalarFeed {
 public:
  struct News {
    bool begins = false;          ///< these rows belong in a new file: the first, or the run has gone back to a checkpoint
    std::int64_t begin_step = 0;  ///< what earlier files say from this step on is void
    std::vector<ScalarRow> rows;
  };

  /// `goes_on`: earlier files of this run exist, and hold its evaluations so far.
  explicit ScalarFeed(bool goes_on) : goes_on_(goes_on) {}
  /// What is new in a state that came at `unix_seconds`; nothing before training has begun.
  News look(const DashboardState& state, double unix_seconds);

 private:
  bool goes_on_;
  bool begun_ = false;
  std::uint32_t generation_ = 0;
  std::int64_t step_ = -1;  ///< of the newest row of the training curves
  std::size_t evaluations_ = 0;
  double evaluated_at_ = 0;  ///< wall time of the newest of them
};

}  // namespace hourglass::tensorboard
