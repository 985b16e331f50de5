// SPDX-License-Identifier: Apache-2.0
// Cumulative counters and gauges of one actor, by name. Lossy by nature: a report carries the newest values.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace hourglass {

/// Names are low in number by construction; what comes after the limit is dropped and counted in "metrics_dropped".
class Metrics {
 public:
  static constexpr std::size_t kNamesMax = 512;
  void count(std::string_view name, double amount);
  void gauge(std::string_view name, double value);
  [[nodiscard]] const std::map<std::string, double, std::less<>>& values() const { return values_; }
  [[nodiscard]] double value(std::string_view name) const;  ///< 0 where it was never set

 private:
  double* slot(std::string_view name);
  std::map<std::string, double, std::less<>> values_;
};

}  // namespace hourglass
