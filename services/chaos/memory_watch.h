// SPDX-License-Identifier: Apache-2.0
// Resident memory of processes over time: does any of them grow?
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hourglass::chaos {

/// Resident bytes of a process; nothing where it is gone.
std::optional<double> resident_bytes(pid_t process);

struct MemoryPoint {
  double seconds = 0;  ///< since the process was first seen
  double bytes = 0;
};

/// Least squares: bytes per second. 0 for fewer than two different times.
double slope_of(const std::vector<MemoryPoint>& points);

/// One process' memory in the second half of its life: the first belongs to loading, and to the first evaluation, which needs more than
/// training does.
struct MemoryRow {
  std::string name;
  pid_t process = 0;
  double seconds = 0;      ///< watched
  double first_bytes = 0;  ///< mean of the first tenth
  double last_bytes = 0;   ///< mean of the last tenth
  double bytes_per_minute = 0;
  [[nodiscard]] double growth() const { return bytes_per_minute * seconds / 60; }
  /// A leak that matters shows as more than this over the time that was watched.
  /// A step, as an evaluation makes one, weighs too much in a shorter time than `kJudgedSecondsMin`.
  static constexpr double kJudgedSecondsMin = 120;
  [[nodiscard]] bool judged() const { return seconds >= kJudgedSecondsMin; }
  [[nodiscard]] bool grows() const;
};

class MemoryWatch {
 public:
  static constexpr double kWarmUpSeconds = 20;
  static constexpr double kWatchedSecondsMin = 20;  ///< a shorter second half says nothing

  /// Once a second.
  void sample(const std::string& name, pid_t process, double now);
  void add(const std::string& name, pid_t process, double now, double bytes);
  /// Of each name the process that was watched for longest.
  [[nodiscard]] std::vector<MemoryRow> rows() const;

 private:
  struct Life {
    double began = 0;
    std::vector<MemoryPoint> points;
  };
  std::map<std::pair<std::string, pid_t>, Life> lives_;
};

}  // namespace hourglass::chaos
