// SPDX-License-Identifier: Apache-2.0
#include "actors/monitor_series.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hourglass {
namespace {
constexpr float kGap = std::numeric_limits<float>::quiet_NaN();

void push_bounded(SeriesRing& ring, const SeriesRow& row) {
  ring.rows.push_back(row);
  if (ring.rows.size() > ring.rows_max) ring.rows.pop_front();
}
}  // namespace

std::string column_name(std::size_t column) {
  static constexpr std::array<std::string_view, kNamedColumns> kNames = {
      "loss", "accuracy", "samples_per_second", "bytes_per_second", "samples", "version", "bytes"};
  if (column < kNamedColumns) return std::string(kNames[column]);
  return "bytes_per_second." + std::string(name_of(static_cast<Traffic>(column - kNamedColumns)));
}

Series::Series() {
  for (std::size_t i = 0; i < rings_.size(); ++i) {
    rings_[i].step_seconds = kStepSeconds[i];
    rings_[i].rows_max = kRowsMax[i];
  }
}

void Series::add(double time, const SeriesValues& values) {
  if (!(time >= 0 && time <= kTimeMax)) return;
  if (!empty() && time <= newest_time()) {
    for (std::size_t i = 0; i < rings_.size(); ++i) {
      auto& rows = rings_[i].rows;
      while (!rows.empty() && rows.back().time >= time) rows.pop_back();
      open_[i] = {};
    }
  }
  push_bounded(rings_[0], {time, values, values, values});
  for (std::size_t i = 1; i < rings_.size(); ++i) add_coarse(i, time, values);
}

void Series::add_coarse(std::size_t ring, double time, const SeriesValues& values) {
  Open& open = open_[ring];
  const auto interval = static_cast<std::int64_t>(std::floor(time / kStepSeconds[ring]));
  if (open.interval != interval) {
    close(ring);
    open = {};
    open.interval = interval;
  }
  for (std::size_t c = 0; c < kColumns; ++c) {
    if (std::isnan(values[c])) continue;
    open.least[c] = open.counts[c] == 0 ? values[c] : std::min(open.least[c], values[c]);
    open.greatest[c] = open.counts[c] == 0 ? values[c] : std::max(open.greatest[c], values[c]);
    open.sums[c] += values[c];
    ++open.counts[c];
  }
}

void Series::close(std::size_t ring) {
  const Open& open = open_[ring];
  if (open.interval < 0) return;
  SeriesRow row;
  row.time = (static_cast<double>(open.interval) + 0.5) * kStepSeconds[ring];
  for (std::size_t c = 0; c < kColumns; ++c) {
    const bool known = open.counts[c] != 0;
    row.mean[c] = known ? static_cast<float>(open.sums[c] / open.counts[c]) : kGap;
    row.least[c] = known ? open.least[c] : kGap;
    row.greatest[c] = known ? open.greatest[c] : kGap;
  }
  push_bounded(rings_[ring], row);
}

}  // namespace hourglass
