// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/plan.h"

#include <gtest/gtest.h>

namespace hourglass::compress::testing {
namespace {

std::string refusal(std::string_view spec) {
  const auto plan = plan_of(spec);
  return plan.ok() ? "" : plan.error().text;
}

TEST(Plan, ResolvesEachStageToItsRow) {
  const auto plan = plan_of("topk ratio=0.02 | rice | two_level");
  ASSERT_TRUE(plan.ok());
  ASSERT_TRUE(plan->selector && plan->value && plan->index);
  EXPECT_EQ(plan->selector->row->row.name, "topk");
  EXPECT_EQ(*plan->selector->spec.number("ratio", 0, 0, 1), 0.02);
  EXPECT_EQ(plan->value->row->row.name, "two_level");
  EXPECT_EQ(plan->index->row->row.name, "rice");
  EXPECT_FALSE(plan->memory || plan->ratio || plan->transform);
}

TEST(Plan, RefusalsSayWhatIsWrongAndWhatThereIs) {
  EXPECT_NE(refusal("tokp"), "");
  EXPECT_NE(refusal("tokp").find("did you mean 'topk'"), std::string::npos);
  EXPECT_NE(refusal("topk | dense").find("second selector"), std::string::npos);
  EXPECT_NE(refusal("two_level | topk").find("selector (dense, topk"), std::string::npos);
  EXPECT_NE(refusal("two_level").find("needs a selector"), std::string::npos);
  EXPECT_NE(refusal("dense | rice").find("takes no index codec"), std::string::npos);
}

TEST(Registry, RowsAreCompleteAndEachExampleIsASpecWithItsOwnStage) {
  for (const Stage& stage : stages()) {
    SCOPED_TRACE(std::string(stage.row.name));
    EXPECT_FALSE(stage.row.help.empty() || stage.row.bits.empty() || stage.row.source.empty());
    EXPECT_EQ(find_stage(stage.row.name), &stage);
    EXPECT_NE(stage.row.example.find(stage.row.name), std::string_view::npos);
    EXPECT_EQ(refusal(stage.row.example), "");
  }
}

}  // namespace
}  // namespace hourglass::compress::testing
