// SPDX-License-Identifier: Apache-2.0
// How much a CONV worker computes between two pushes (the job's `train.local_policy`), decided by the aggregator from what pushes tell.
// train.local_steps is H.
//
//   fixed                            H steps, of one batch each
//   speed max=64                     workers of unequal speed take unequal numbers of steps, so that all units last as long as H steps of
//                                    the slowest: H_i = min(max, ceil(x - min(x / 20, 1 / 2))), x = H q_slowest / q_i, q: the median of a
//                                    worker's last 5 times for a sample. Rather the slow one waits than the fast one; speeds within 5 % are
//                                    equal. So a steady straggler does not set everybody's clock rate. (after DyLU, Liu et al. 2024,
//                                    2401.09135)
//   adaptive_batch max=512 eta=0.9   H steps, each of as many batches as adaptive_batch.h asks for by the noise of the gradients, their
//   mean
//                                    being the step's gradient. max: samples.
//
// The learning rate of a step stays what it is, and each push keeps the weight 1/P: each local step counts 1/P, whoever takes it. So with
// "speed" each sample counts the same, and a clock stands for more samples than P H batches.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/ids.h"
#include "base/time.h"
#include "learning/params/adaptive_batch.h"
#include "learning/params/optimizer.h"
#include "messages/job.h"

namespace hourglass::params {

/// One unit's: steps, and the batches that each of them takes together.
struct LocalWork {
  std::uint32_t steps = 1;
  std::uint32_t step_batches = 1;
  bool operator==(const LocalWork&) const = default;
};

/// What the aggregator learns from one push.
struct UnitReport {
  std::uint32_t samples = 0;
  Duration worked{};  ///< from when the unit could be started until its push was here; zero: unknown
  GradientNoise noise;
};

class LocalPolicy {
 public:
  virtual ~LocalPolicy() = default;
  virtual void pushed(ActorId /*id*/, const UnitReport& /*report*/) {}
  virtual void left(ActorId /*id*/) {}
  /// Of its units that start from now on.
  [[nodiscard]] virtual LocalWork work(ActorId id) const = 0;
  /// Must workers measure the noise of their gradients?
  [[nodiscard]] virtual bool wants_noise() const { return false; }
};

const std::vector<NamedRow>& local_policies();

/// Errors: bad_config with the list.
Result<std::unique_ptr<LocalPolicy>> make_local_policy(const Job& job);

/// Errors: bad_config with cause and next step where the job's other settings do not fit.
Status check_local_policy(const Job& job);

}  // namespace hourglass::params
