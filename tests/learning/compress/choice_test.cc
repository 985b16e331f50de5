// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/choice.h"

#include <gtest/gtest.h>

namespace hourglass::compress::testing {
namespace {

Result<std::size_t> chosen(const char* spec) { return choice_of(parse_spec(spec)->front(), "form", {"literal", "budget"}); }

TEST(Choice, IsTheFirstByDefaultAndRefusesOthersWithTheList) {
  EXPECT_EQ(*chosen("entropy"), 0U);
  EXPECT_EQ(*chosen("entropy form=literal"), 0U);
  EXPECT_EQ(*chosen("entropy form=budget"), 1U);
  const auto refused = chosen("entropy form=other");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, Errc::bad_config);
  EXPECT_NE(refused.error().text.find("form=other is none of literal, budget"), std::string::npos);
}

}  // namespace
}  // namespace hourglass::compress::testing
