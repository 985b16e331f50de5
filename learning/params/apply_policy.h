// SPDX-License-Identifier: Apache-2.0
// When pushes reach the parameters (the job's `train.apply_policy`). Each keeps its weight of 1/P, times what its staleness is worth.
//
//   each                                each by itself, when it comes
//   buffer size=B                       B pushes are held and applied together, in the order of their batches: the sum does not depend on
//                                       the order of arrival. With a staleness bound a round's pushes are applied in time for whom the
//                                       bound promises them, full or not.               (FedBuff, Nguyen et al. 2021, arXiv 2106.06639)
//   outer size=B rate=0.7 momentum=0.9  the sum d of B pushes, held as above, is a gradient for an outer optimizer: v = momentum v + d, and
//                                       rate (d + momentum v) is added                        (DiLoCo, Douillard et al. 2023, arXiv
//                                       2311.08105)
//   delayed_nesterov size=B momentum=m  each push is applied when it comes; after each B of them momentum, v = m v + their sum, is applied
//                                       once as m v.                              (Liu et al. 2024, arXiv 2401.09135, with c = 0)
//
// B: the number of CONV workers where it is left out. With a server rule (train.server) "buffer" says how many pushes make one of its
// steps.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "learning/params/optimizer.h"
#include "learning/params/server_rule.h"
#include "messages/job.h"

namespace hourglass::params {

const std::vector<NamedRow>& apply_policies();

struct ApplyPolicy {
  std::uint32_t buffer = 0;          ///< pushes that are applied, and published, together; 0: one by one
  std::unique_ptr<ServerRule> rule;  ///< null where pushes are added at once, or the job's server rule applies them
};

/// For one group. Errors: bad_config with the list.
Result<ApplyPolicy> make_apply_policy(const Job& job, std::size_t size);

/// Errors: bad_config with cause and next step where the job's other settings do not fit.
Status check_apply_policy(const Job& job);

}  // namespace hourglass::params
