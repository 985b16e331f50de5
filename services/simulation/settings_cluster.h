// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "services/options/settings.h"
#include "services/simulation/simulated_cluster.h"

namespace hourglass {

/// The cluster that the settings of `hourglass simulate` describe.
SimulatedClusterOptions simulated_cluster_of(const Settings& settings);

}  // namespace hourglass
