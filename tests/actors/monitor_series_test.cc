// SPDX-License-Identifier: Apache-2.0
#include "actors/monitor_series.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hourglass {
namespace {

TEST(Series, RingsAreBoundedAndCoarseOnesKeepExtremes) {
  Series series;
  for (int t = 0; t < 200000; ++t) {
    SeriesValues values{};
    values[0] = static_cast<float>(t % 10);
    values[1] = std::nanf("");
    series.add(t, values);
  }
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(series.rings()[i].rows.size(), Series::kRowsMax[i]);
  const SeriesRow& ten = series.rings()[1].rows.back();
  EXPECT_FLOAT_EQ(ten.least[0], 0);
  EXPECT_FLOAT_EQ(ten.greatest[0], 9);
  EXPECT_FLOAT_EQ(ten.mean[0], 4.5F);
  EXPECT_TRUE(std::isnan(ten.mean[1])) << "unknown is a gap at every step";
  EXPECT_DOUBLE_EQ(ten.time - series.rings()[1].rows[series.rings()[1].rows.size() - 2].time, 10);
}

TEST(Series, RefusesImpossibleTimes) {
  Series series;
  for (const double time : {-1.0, 1e300, std::nan("")}) series.add(time, {});
  EXPECT_TRUE(series.empty());
}

}  // namespace
}  // namespace hourglass
