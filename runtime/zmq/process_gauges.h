// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/metrics.h"
#include "base/time.h"

namespace hourglass::zmq {

/// Sets "cpu_seconds", "rss_bytes", "open_files" and "uptime_seconds" of this process.
void set_process_gauges(Metrics& metrics, Duration uptime);

}  // namespace hourglass::zmq
