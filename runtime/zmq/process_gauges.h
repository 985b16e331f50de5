// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/metrics.h"
#include "base/time.h"

namespace hourglass::zmq {

/// Sets "cpu_seconds", "rss_bytes", "open_files" and "uptime_seconds" of this process.
void set_process_gauges(Metrics& metrics, Duration uptime);
/// How many files this process may have open, as `ulimit -n` says; infinity where there is no limit.
double open_files_max();

}  // namespace hourglass::zmq
