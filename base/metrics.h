// SPDX-License-Identifier: Apache-2.0
// Cumulative counters and gauges of one actor, by name. Lossy by nature: a report carries the newest values.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace hourglass {

/// Names are low in number by construction; what comes after the limit is dropped and counted in "metrics_dropped", and so is a
/// value that would leave a metric not finite: what is held here can always be sent.
class Metrics {
 public:
  static constexpr std::size_t kNamesMax = 512;  ///< "metrics_dropped" among them
  static constexpr std::size_t kNameBytesMax = 128;
  void count(std::string_view name, double amount);
  void gauge(std::string_view name, double value);
  [[nodiscard]] const std::map<std::string, double, std::less<>>& values() const { return values_; }
  [[nodiscard]] double value(std::string_view name) const;  ///< 0 where it was never set

 private:
  void set(std::string_view name, double value);
  std::map<std::string, double, std::less<>> values_;
};

}  // namespace hourglass
