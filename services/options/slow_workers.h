// SPDX-License-Identifier: Apache-2.0
// Which simulated workers are slower than the others: "conv-0:10, fc-1:2.5".
#pragma once

#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace hourglass {

struct SlowWorker {
  Role role = Role::conv_worker;
  std::uint32_t position = 0;  ///< counted from 0 in the order of their start
  double times = 1;            ///< what it takes, in multiples of the others' time
};

/// Empty: nobody. Errors: bad_config naming the entry.
Result<std::vector<SlowWorker>> parse_slow_workers(std::string_view text);

}  // namespace hourglass
