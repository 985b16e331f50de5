// SPDX-License-Identifier: Apache-2.0
// SIGINT and SIGTERM as something a loop looks at.
#pragma once

#include <csignal>

namespace hourglass {

extern volatile std::sig_atomic_t stop_signal;  ///< the first that came; 0: none
extern volatile std::sig_atomic_t stop_count;

void catch_stops();

}  // namespace hourglass
