// SPDX-License-Identifier: Apache-2.0
// What a late push is worth (the job's `train.stale_policy`). A push's age is counted in rounds: versions of others between read and apply,
// divided by the members that share its round, rounded down. So a push of a synchronous run, and that of equally fast workers in an
// asynchronous one, has age 0, and each policy is then "equal".
//
//   equal                        1
//   polynomial power=0.5         (1 + age)^-power                           (Xie et al. 2019, arXiv 1903.03934; FedBuff, arXiv 2106.06639)
//   inverse                      1 / max(1, age)                            (staleness-aware n-softsync, Zhang et al. 2016, arXiv
//   1511.05950) dc_asgd lambda=0.04          1, and the gradient g that was taken at w' becomes g + lambda g*g*(w - w') with the parameters
//   w of now dc_asgd lambda=2 decay=0.95  the same with lambda / sqrt(m + 1e-7), m = decay m + (1 - decay) g*g, entry by entry
//                                                                            (Zheng et al. 2017, arXiv 1609.08326)
//
// What a weight below 1 takes away is gone: it is a smaller step, not a residual. Compensation wants the gradient itself, so pushes must be
// gradients (a server rule, train.server) of one local step; entries that a compressor leaves out are 0 and stay 0. The aggregator keeps
// the values that each worker was last sent: one copy of the model a worker.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "learning/params/optimizer.h"
#include "messages/job.h"

namespace hourglass::params {

class StalePolicy {
 public:
  virtual ~StalePolicy() = default;
  /// Factor on a push's weight, in (0, 1].
  [[nodiscard]] virtual double weight(std::uint64_t age) const = 0;
  /// Must compensate() be called? Then somebody has to remember what each worker computed with.
  [[nodiscard]] virtual bool compensates() const { return false; }
  /// Makes of `push`, minus a gradient at the parameters `then`, an estimate of the same at `now`. All spans have one size.
  virtual void compensate(std::span<float> push, std::span<const float> now, std::span<const float> then);
};

const std::vector<NamedRow>& stale_policies();

/// One parameter group's. Errors: bad_config with the list.
Result<std::unique_ptr<StalePolicy>> make_stale_policy(std::string_view spec);

/// Errors: bad_config with cause and next step where the job's other settings do not fit.
Status check_stale_policy(const Job& job);

}  // namespace hourglass::params
