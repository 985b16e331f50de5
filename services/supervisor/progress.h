// SPDX-License-Identifier: Apache-2.0
// How a run's progress looks on standard error: one line that is rewritten on a terminal, else a line each 10 s.
#pragma once

#include <string>

#include "services/supervisor/run_report.h"

namespace hourglass {

inline constexpr double kLineSeconds = 10;

std::string show_bytes(double bytes);      ///< "3.2 MB"
std::string show_seconds(double seconds);  ///< "4.2 s", "3:05", "1:02:03"
std::string show_share(double share);      ///< "90.12 %"
std::string show_short(double number);     ///< four significant digits

/// "training 43 %, epoch 2/3, loss 0.312, accuracy 88.90 %, 12345 samples/s, 3.2 MB/s, ETA 1:23, 2 CONV 1 FC"
std::string progress_line(const StatusReport& status);
/// The same with a bar, cut to `columns`. `colour`: ANSI colours.
std::string progress_bar(const StatusReport& status, std::size_t columns, bool colour);

/// Standard error of the supervisor.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Call as often as you like: it writes when something is due. `now`: seconds on any steady clock.
  void show(const StatusReport& status, double now);
  void close();  ///< clears the bar

 private:
  bool terminal_ = false;
  bool colour_ = false;
  bool drawn_ = false;
  double last_ = -1e9;
};

}  // namespace hourglass
