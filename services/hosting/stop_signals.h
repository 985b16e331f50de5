// SPDX-License-Identifier: Apache-2.0
// SIGINT and SIGTERM as something a loop looks at.
#pragma once

#include <csignal>

namespace hourglass {

extern volatile std::sig_atomic_t stop_signal;  ///< the first that came; 0: none
extern volatile std::sig_atomic_t stop_count;

/// Counts SIGINT and SIGTERM in the two above. SIGPIPE is ignored: writing to who is gone is an error, not an end.
void catch_stops();
/// The same with a handler of the caller's.
void catch_stops(void (*handler)(int));

}  // namespace hourglass
