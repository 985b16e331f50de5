// SPDX-License-Identifier: Apache-2.0
// How a worker takes in published parameters G (the job's `train.take_policy`).
//
//   keep           G, own pushes that G does not contain, and the steps since the last push: nothing that was computed is lost
//   mix alpha=0.5  alpha L + (1 - alpha) G, L being what it computed with until now; alpha (L - G) goes with the next push, too. alpha = 0
//                  forgets everything but G, 1 never takes G in.      (local SGD with mixing, as torchft's `fragment_update_alpha`)
//
// Mixing is for synchronous rounds of local steps, uncompressed: L holds what is under way, or what error feedback holds back, and would
// send it twice.
#pragma once

#include <optional>
#include <string_view>

#include "learning/params/optimizer.h"
#include "messages/job.h"

namespace hourglass::params {

const std::vector<NamedRow>& take_policies();

/// alpha; empty for "keep". Errors: bad_config with the list.
Result<std::optional<double>> parse_take_policy(std::string_view spec);

/// Errors: bad_config with cause and next step where the job's other settings do not fit.
Status check_take_policy(const Job& job);

}  // namespace hourglass::params
