// SPDX-License-Identifier: Apache-2.0
// The run's curves in bounded memory: rings of rows at 1 s, 10 s and 60 s, the coarser two with mean, least and greatest value.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>

#include "messages/message_type.h"

namespace hourglass {

/// Columns of a row: these, then the bytes per second of each Traffic.
/// The last three are other measures of how far the run is: training samples done, version of the conv group, socket bytes sent by all.
enum class Column : std::uint8_t { loss, accuracy, samples_per_second, bytes_per_second, samples, version, bytes };
inline constexpr std::size_t kNamedColumns = 7;
inline constexpr std::size_t kColumns = kNamedColumns + kTraffics;
std::string column_name(std::size_t column);  ///< "loss", "bytes_per_second.push_conv"

/// One value per column; NaN where nothing was known.
using SeriesValues = std::array<float, kColumns>;

struct SeriesRow {
  double time = 0;  ///< run seconds: since training began; of a coarse row, the middle of its interval
  SeriesValues mean{}, least{}, greatest{};
};

/// Rows ordered by time.
struct SeriesRing {
  double step_seconds = 1;
  std::size_t rows_max = 0;
  std::deque<SeriesRow> rows;
};

class Series {
 public:
  static constexpr std::array<std::size_t, 3> kRowsMax = {900, 1080, 1440};  ///< 15 min, 3 h, 24 h
  static constexpr std::array<double, 3> kStepSeconds = {1, 10, 60};

  static constexpr double kTimeMax = 1e9;

  Series();
  /// `time` in [0, kTimeMax]; others are ignored. Rows from `time` on are dropped first: a run that resumed from a checkpoint goes over
  /// them again.
  void add(double time, const SeriesValues& values);
  [[nodiscard]] const std::array<SeriesRing, 3>& rings() const { return rings_; }
  [[nodiscard]] bool empty() const { return rings_[0].rows.empty(); }
  [[nodiscard]] double newest_time() const { return empty() ? 0 : rings_[0].rows.back().time; }

 private:
  /// What a coarse ring has gathered of the interval that is still open.
  struct Open {
    std::int64_t interval = -1;
    std::array<std::uint32_t, kColumns> counts{};
    std::array<double, kColumns> sums{};
    SeriesValues least{}, greatest{};
  };
  void add_coarse(std::size_t ring, double time, const SeriesValues& values);
  void close(std::size_t ring);

  std::array<SeriesRing, 3> rings_;
  std::array<Open, 3> open_;
};

}  // namespace hourglass
