// SPDX-License-Identifier: Apache-2.0
#include "base/spec.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace hourglass {
namespace {

std::vector<SpecStage> parsed(std::string_view text) {
  auto result = parse_spec(text);
  EXPECT_TRUE(result.ok()) << text;
  return result.ok() ? *std::move(result) : std::vector<SpecStage>{};
}

Error refused(std::string_view text) {
  const auto result = parse_spec(text);
  EXPECT_FALSE(result.ok()) << text;
  return result.ok() ? Error{} : result.error();
}

TEST(Spec, HasStagesWordsAndOptions) {
  const auto stages = parsed("conv 32 kernel=5 same | relu|pool 2 ");
  ASSERT_EQ(stages.size(), 3U);
  EXPECT_EQ(stages[0].name, "conv");
  EXPECT_EQ(stages[0].words, (std::vector<std::string>{"32", "same"}));
  ASSERT_EQ(stages[0].options.size(), 1U);
  EXPECT_EQ(stages[0].options[0].first, "kernel");
  EXPECT_EQ(stages[0].options[0].second, "5");
  EXPECT_EQ(stages[1].name, "relu");
  EXPECT_TRUE(stages[1].words.empty());
  EXPECT_EQ(stages[2].name, "pool");
}

TEST(Spec, BlanksDoNotMatter) { EXPECT_EQ(to_string(parsed(" topk\tratio=0.01\n|  rice ")), "topk ratio=0.01 | rice"); }

TEST(Spec, RefusesWhatIsNotASpec) {
  for (const char* text : {"",  " ",   "|",    "a|",   "|a",    "a||b",    "a | | b",   "A",     "top-k", "é",    "ratio=1",
                           "=", "a =", "a =1", "a k=", "a K=1", "a k-v=1", "a k=1 k=2", "a | =", "\x01",  "a\x7f"}) {
    EXPECT_EQ(refused(text).code, Errc::bad_config) << text;
  }
}

TEST(Spec, AValueMayHoldAnEqualsSign) {
  const auto stages = parsed("a k=x=y");
  ASSERT_EQ(stages.size(), 1U);
  EXPECT_EQ(stages[0].options[0].second, "x=y");
}

TEST(Spec, HasLimits) {
  std::string many = "a";
  for (std::size_t i = 1; i < kSpecStagesMax; ++i) many += "|a";
  EXPECT_EQ(parsed(many).size(), kSpecStagesMax);
  EXPECT_EQ(refused(many + "|a").code, Errc::over_limit);
  EXPECT_EQ(parsed(std::string(kSpecBytesMax, 'a')).size(), 1U);
  EXPECT_EQ(refused(std::string(kSpecBytesMax + 1, 'a')).code, Errc::over_limit);
  EXPECT_EQ(refused(std::string(kSpecBytesMax, '|')).code, Errc::bad_config);
}

TEST(Spec, AnythingIsRefusedOrMeansTheSameWhenWritten) {
  Random random(11);
  using namespace std::string_literals;
  const std::string letters = "ab1_= |=\t\nA.-\xff\0"s;
  int accepted = 0;
  for (int round = 0; round < 50000; ++round) {
    std::string text;
    for (std::uint64_t size = random.below(24); size > 0; --size) text += letters[random.below(letters.size())];
    const auto once = parse_spec(text);
    if (!once.ok()) continue;
    ++accepted;
    const std::string canonical = to_string(*once);
    const auto twice = parse_spec(canonical);
    ASSERT_TRUE(twice.ok()) << text;
    EXPECT_EQ(to_string(*twice), canonical);
    ASSERT_EQ(twice->size(), once->size());
    for (std::size_t i = 0; i < once->size(); ++i) {
      EXPECT_EQ((*once)[i].name, (*twice)[i].name);
      EXPECT_EQ((*once)[i].words, (*twice)[i].words);
      EXPECT_EQ((*once)[i].options, (*twice)[i].options);
    }
  }
  EXPECT_GT(accepted, 100);
}

TEST(SpecStage, ReadsNumbers) {
  const auto stage = parsed("topk ratio=0.01 small=1e-3").front();
  EXPECT_EQ(*stage.number("ratio", 1, 0, 1), 0.01);
  EXPECT_EQ(*stage.number("small", 1, 0, 1), 1e-3);
  EXPECT_EQ(*stage.number("absent", 0.5, 0, 1), 0.5);
  const auto wrong = stage.number("ratio", 1, 0.1, 1);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().code, Errc::bad_config);
  EXPECT_EQ(wrong.error().text, "topk: ratio=0.01 must be a number from 0.1 to 1");
}

TEST(SpecStage, RefusesWhatIsNotANumber) {
  for (const char* value : {"x", "1x", "nan", "-nan", "inf", "-inf", "1e999", "0x1", "1,5", "+1", "--1", "1e", "."}) {
    const auto stage = parsed(std::string("a k=") + value).front();
    EXPECT_FALSE(stage.number("k", 0, -100, 100).ok()) << value;
    EXPECT_FALSE(stage.whole("k", 0, -100, 100).ok()) << value;
  }
}

TEST(SpecStage, ReadsWholeNumbers) {
  const auto stage = parsed("conv 32 k=5 n=-3 big=9223372036854775808 real=1.0").front();
  EXPECT_EQ(*stage.whole("k", 0, 1, 5), 5);
  EXPECT_EQ(*stage.whole("n", 0, -3, 5), -3);
  EXPECT_EQ(*stage.whole("absent", 9, 1, 5), 9);
  EXPECT_FALSE(stage.whole("k", 0, 1, 4).ok());
  EXPECT_FALSE(stage.whole("k", 0, 6, 9).ok());
  EXPECT_FALSE(stage.whole("big", 0, 0, INT64_MAX).ok());
  EXPECT_FALSE(stage.whole("real", 0, 0, 9).ok());
  EXPECT_EQ(*stage.whole_word(0, "channels", 1, 64), 32);
  EXPECT_FALSE(stage.whole_word(0, "channels", 1, 31).ok());
  EXPECT_EQ(stage.whole_word(1, "kernel", 1, 64).error().text, "conv needs its kernel");
}

TEST(SpecStage, NamesWhatItTakes) {
  const auto stage = parsed("topk 5 ratio=1 rate=2").front();
  EXPECT_TRUE(stage.only({"ratio", "rate"}, 1).ok());
  EXPECT_EQ(stage.only({"ratio", "warm"}, 1).error().text, "topk has no option 'rate'; it takes: ratio, warm");
  EXPECT_EQ(stage.only({"ratio", "rate"}).error().text, "topk does not take '5'");
  EXPECT_EQ(parsed("relu x=1").front().only({}).error().text, "relu has no option 'x'; it takes none");
}

TEST(NearestName, FindsWhatWasMeant) {
  const std::vector<std::string> names = {"fashion_mnist", "mnist", "cifar10", "topk"};
  EXPECT_EQ(nearest_name("fashion-mnist", names), "fashion_mnist");
  EXPECT_EQ(nearest_name("mnits", names), "mnist");
  EXPECT_EQ(nearest_name("cifar", names), "cifar10");
  EXPECT_EQ(nearest_name("topk", names), "topk");
  EXPECT_EQ(nearest_name("resnet50", names), "");
  EXPECT_EQ(nearest_name("zz", {"ab", "k"}), "");
  EXPECT_EQ(nearest_name("", names), "");
  EXPECT_EQ(nearest_name("x", {}), "");
  EXPECT_EQ(nearest_name("ax", {"ab", "ac"}), "ab") << "the first of equals";
}

}  // namespace
}  // namespace hourglass
