// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace hourglass {
namespace {

Result<std::vector<int>> numbers(bool good) {
  if (!good) return {Errc::io, "disk is full"};
  return std::vector<int>{1, 2, 3};
}

TEST(Result, HoldsAValue) {
  Result<std::vector<int>> result = numbers(true);
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(static_cast<bool>(result));
  EXPECT_EQ(result->size(), 3U);
  (*result)[0] = 7;
  EXPECT_EQ(result.value(), (std::vector<int>{7, 2, 3}));
}

TEST(Result, HoldsAnError) {
  const auto result = numbers(false);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, Errc::io);
  EXPECT_EQ(result.error().text, "disk is full");
}

TEST(Result, AValueThatMovesCanBeTakenOut) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(5));
  const std::unique_ptr<int> taken = *std::move(result);
  EXPECT_EQ(*taken, 5);
}

TEST(Result, ATemporaryCanBeIterated) {
  int sum = 0;
  for (const int number : *numbers(true)) sum += number;
  EXPECT_EQ(sum, 6);
}

TEST(Result, OfTheErrorsOwnTypesIsNotConfused) {
  const Result<std::string> text(std::string("malformed"));
  EXPECT_TRUE(text.ok());
  const Result<Errc> code(Errc::io);
  EXPECT_TRUE(code.ok());
}

TEST(Status, IsGoodUnlessToldOtherwise) {
  const Status good;
  EXPECT_TRUE(good.ok());
  const Status bad(Errc::bad_config, "port=0 must be 1..65535");
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().code, Errc::bad_config);
}

TEST(ResultDeathTest, ReadingWhatIsNotThereIsOurError) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH((void)numbers(false).value(), "disk is full");
  EXPECT_DEATH((void)numbers(true).error(), "no error to read");
  EXPECT_DEATH((void)Status().error(), "no error to read");
}

TEST(Errc, EveryCodeHasItsName) {
  std::set<std::string_view> names;
  for (int code = 1; code <= 9; ++code) names.insert(name_of(static_cast<Errc>(code)));
  EXPECT_EQ(names.size(), 9U);
  EXPECT_EQ(names.count("unknown"), 0U);
  EXPECT_EQ(name_of(static_cast<Errc>(0)), "unknown");
  EXPECT_EQ(name_of(Errc::over_limit), "over_limit");
}

}  // namespace
}  // namespace hourglass
