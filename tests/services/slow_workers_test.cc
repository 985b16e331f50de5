// SPDX-License-Identifier: Apache-2.0
#include "services/options/slow_workers.h"

#include <gtest/gtest.h>

namespace hourglass {
namespace {

TEST(SlowWorkers, ListsRolePositionAndFactor) {
  const auto slow = parse_slow_workers(" conv-0:10,fc-12:2.5 ");
  ASSERT_TRUE(slow.ok()) << slow.error().text;
  ASSERT_EQ(slow->size(), 2U);
  EXPECT_EQ((*slow)[0].role, Role::conv_worker);
  EXPECT_EQ((*slow)[0].position, 0U);
  EXPECT_EQ((*slow)[0].times, 10);
  EXPECT_EQ((*slow)[1].role, Role::fc_worker);
  EXPECT_EQ((*slow)[1].position, 12U);
  EXPECT_EQ((*slow)[1].times, 2.5);
  EXPECT_TRUE(parse_slow_workers("")->empty());
  EXPECT_TRUE(parse_slow_workers("  ")->empty());
}

TEST(SlowWorkers, RefusesAnythingElseAndNamesIt) {
  for (const char* text :
       {"conv-0", "conv:10", "conv-0:0", "conv-0:-1", "conv-x:2", "loader-0:2", "conv-0:2,", "conv-0:nan", "0:conv-2", "conv-1:1e9"}) {
    const auto slow = parse_slow_workers(text);
    ASSERT_FALSE(slow.ok()) << text;
    EXPECT_EQ(slow.error().code, Errc::bad_config);
    EXPECT_NE(slow.error().text.find("as in \"conv-0:10"), std::string::npos) << slow.error().text;
  }
}

}  // namespace
}  // namespace hourglass
