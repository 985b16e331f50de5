// SPDX-License-Identifier: Apache-2.0
// The staleness bound of the job (`train.staleness`, s) and what may be granted beyond it (`train.bound_policy`).
//
//   fixed            nothing
//   dynamic range=4  DSSP (Zhao et al. 2019, arXiv 1908.11848): when the fastest worker has used up s, it may go on for r more units,
//                    0 <= r <= range. r is where it would wait least for the slowest, if both go on at the pace of their last two pushes:
//                    the r that minimises min over j of |t_slow + (j + 1) I_slow - (t_fast + r I_fast)|, j in 0 .. range, where t is the
//                    time of a worker's last push and I the interval before it. All bounds hold with s + range for s.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>

#include "base/ids.h"
#include "base/time.h"
#include "learning/params/optimizer.h"
#include "messages/job.h"

namespace hourglass::params {

class BoundPolicy {
 public:
  virtual ~BoundPolicy() = default;
  /// Most that is ever granted beyond s.
  [[nodiscard]] virtual std::uint64_t range() const { return 0; }
  virtual void pushed(ActorId /*id*/, Instant /*now*/) {}
  virtual void left(ActorId /*id*/) {}
  /// Units beyond s that `fastest` may do, at the moment when it would have to wait for `slowest`.
  [[nodiscard]] virtual std::uint64_t grant(ActorId /*fastest*/, ActorId /*slowest*/) const { return 0; }
};

/// The r of the formula above.
std::uint64_t best_extra(Instant fast_last, Duration fast_interval, Instant slow_last, Duration slow_interval, std::uint64_t range);

const std::vector<NamedRow>& bound_policies();

/// Errors: bad_config with the list.
Result<std::unique_ptr<BoundPolicy>> make_bound_policy(std::string_view spec);

/// Errors: bad_config with cause and next step where the job's other settings do not fit.
Status check_bound_policy(const Job& job);

}  // namespace hourglass::params
