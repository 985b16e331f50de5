// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "learning/params/optimizer.h"

namespace hourglass::params {
namespace {

void expect_factors(std::string_view spec, std::initializer_list<std::pair<double, double>> factors) {
  const auto schedule = make_schedule(spec);
  ASSERT_TRUE(schedule.ok()) << schedule.error().text;
  for (const auto& [progress, factor] : factors) EXPECT_NEAR((*schedule)->factor(progress), factor, 1e-12) << spec << " at " << progress;
}

TEST(Schedule, Constant) {
  expect_factors("constant", {{0, 1}, {0.3, 1}, {1, 1}});
  expect_factors("constant warmup=0.2", {{0, 0}, {0.05, 0.25}, {0.1, 0.5}, {0.2, 1}, {1, 1}});
}

TEST(Schedule, Cosine) {
  expect_factors("cosine", {{0, 1}, {0.25, 0.5 + std::sqrt(0.125)}, {0.5, 0.5}, {1, 0}});
  expect_factors("cosine floor=0.01", {{0, 1}, {0.5, 0.505}, {1, 0.01}});
  expect_factors("cosine floor=0.2 warmup=0.2", {{0, 0}, {0.1, 0.5}, {0.2, 1}, {0.6, 0.6}, {1, 0.2}});
}

TEST(Schedule, Step) {
  expect_factors("step", {{0, 1}, {0.499, 1}, {0.5, 0.1}, {1, 0.1}});
  expect_factors("step at=0.5,0.75 by=0.2", {{0, 1}, {0.4, 1}, {0.5, 0.2}, {0.74, 0.2}, {0.75, 0.04}, {1, 0.04}});
  expect_factors("step at=0.5 by=0.1 warmup=0.1", {{0, 0}, {0.05, 0.5}, {0.1, 1}, {0.6, 0.1}});
}

TEST(Schedule, ProgressBeyondTheRunIsItsEnd) { expect_factors("cosine floor=0.01 warmup=0.05", {{-1, 0}, {1.001, 0.01}, {5, 0.01}}); }

TEST(ScheduleDeathTest, RefusesNoNumber) {
  const auto schedule = make_schedule("constant").value();
  EXPECT_DEATH((void)schedule->factor(NAN), "progress");
}

void expect_refused(std::string_view spec, std::initializer_list<std::string> texts) {
  const auto made = make_schedule(spec);
  ASSERT_FALSE(made.ok()) << spec;
  EXPECT_EQ(made.error().code, Errc::bad_config) << spec;
  for (const std::string& text : texts) EXPECT_NE(made.error().text.find(text), std::string::npos) << made.error().text;
}

TEST(Schedules, ErrorsListWhatIsAllowed) {
  expect_refused("cosin", {"unknown schedule 'cosin'", "constant, cosine, step", "did you mean 'cosine'?"});
  expect_refused("constant floor=0.1", {"floor", "it takes: warmup"});
  expect_refused("cosine at=0.5", {"floor, warmup"});
  expect_refused("cosine floor=1.5", {"from 0 to 1"});
  expect_refused("cosine warmup=0.95", {"from 0 to 0.9"});
  expect_refused("step gamma=0.1", {"at, by, warmup"});
  expect_refused("step at=0.75,0.5", {"must ascend"});
  expect_refused("step at=0.5,0.5", {"must ascend"});
  expect_refused("step at=0.5,", {"from 0 to 1"});
  expect_refused("step at=50", {"at=50", "from 0 to 1"});
  expect_refused("step at=0.1 warmup=0.2", {"warmup"});
  expect_refused("step at=0.01,0.02,0.03,0.04,0.05,0.06,0.07,0.08,0.09,0.1,0.11,0.12,0.13,0.14,0.15,0.16,0.17", {"at most 16"});
  expect_refused("constant | cosine", {"one schedule"});
}

}  // namespace
}  // namespace hourglass::params
