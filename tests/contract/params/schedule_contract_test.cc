// SPDX-License-Identifier: Apache-2.0
// What every row of schedules() must do with its default options and with a warmup.
#include <gtest/gtest.h>

#include <set>

#include "learning/params/optimizer.h"

namespace hourglass::params {
namespace {

class ScheduleContract : public testing::TestWithParam<NamedRow> {};

TEST_P(ScheduleContract, ItsNameIsASpecAndItHasHelp) {
  EXPECT_TRUE(make_schedule(GetParam().name).ok());
  EXPECT_FALSE(GetParam().help.empty());
}

TEST_P(ScheduleContract, StartsAtOneAndNeverRises) {
  const auto schedule = make_schedule(GetParam().name).value();
  EXPECT_EQ(schedule->factor(0.0), 1.0);
  double before = 1.0;
  for (int i = 0; i <= 1000; ++i) {
    const double factor = schedule->factor(i / 1000.0);
    EXPECT_LE(factor, before);
    EXPECT_GE(factor, 0.0);
    EXPECT_EQ(factor, schedule->factor(i / 1000.0));
    before = factor;
  }
}

TEST_P(ScheduleContract, WarmsUpLinearlyFromZeroToOne) {
  const auto schedule = make_schedule(std::string(GetParam().name) + " warmup=0.1").value();
  for (int i = 0; i <= 10; ++i) EXPECT_NEAR(schedule->factor(i * 0.01), i * 0.1, 1e-9);
}

TEST_P(ScheduleContract, RefusesUnknownOptions) {
  const auto made = make_schedule(std::string(GetParam().name) + " colour=1");
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, Errc::bad_config);
  EXPECT_NE(made.error().text.find("it takes: "), std::string::npos) << made.error().text;
}

INSTANTIATE_TEST_SUITE_P(Rows, ScheduleContract, testing::ValuesIn(schedules()),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(ScheduleRows, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const NamedRow& row : schedules()) EXPECT_TRUE(names.insert(row.name).second) << row.name;
}

}  // namespace
}  // namespace hourglass::params
