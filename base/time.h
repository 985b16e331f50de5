// SPDX-License-Identifier: Apache-2.0
// Instants without a clock: only runtime/zmq and services read real ones.
#pragma once

#include <algorithm>
#include <chrono>

namespace hourglass {

using Duration = std::chrono::nanoseconds;

/// The time line of a reactor: wall-clock driven over sockets, virtual in the simulator. Zero is the reactor's start.
struct ReactorClock {
  using duration = Duration;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<ReactorClock, Duration>;
  static constexpr bool is_steady = true;
};
using Instant = ReactorClock::time_point;

inline double seconds(Duration d) { return std::chrono::duration<double>(d).count(); }
/// Clamped to about 95 years either way, so that an absurd setting neither overflows nor wraps; not a number is zero.
inline Duration from_seconds(double s) {
  constexpr double kLongest = 3e9;
  if (s != s) return Duration::zero();
  return std::chrono::round<Duration>(std::chrono::duration<double>(std::clamp(s, -kLongest, kLongest)));
}

}  // namespace hourglass
