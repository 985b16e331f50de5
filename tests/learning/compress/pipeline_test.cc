// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/learning/compress/vectors.h"

namespace hourglass::compress::testing {
namespace {

std::string refusal(const char* spec) {
  const auto made = try_compressor(spec);
  if (made.ok()) return "accepted";
  EXPECT_EQ(made.error().code, Errc::bad_config) << spec;
  EXPECT_FALSE(is_lossless(spec).ok()) << spec;
  return made.error().text;
}

TEST(Spec, RefusalsNameTheStageAndTheList) {
  EXPECT_NE(refusal("topq ratio=0.1").find("did you mean 'topk'"), std::string::npos);
  for (const CompressRow& row : registry()) EXPECT_NE(refusal("nothing").find(row.name), std::string::npos);
  EXPECT_NE(refusal("rice").find("dense, topk"), std::string::npos);
  EXPECT_NE(refusal("two_level | dense").find("dense, topk"), std::string::npos);
  EXPECT_NE(refusal("dense | topk").find("selector"), std::string::npos);
  EXPECT_NE(refusal("topk | bf16 | f32").find("second value codec"), std::string::npos);
  EXPECT_NE(refusal("topk | rice | raw").find("second index codec"), std::string::npos);
  EXPECT_NE(refusal("dense | rice").find("no index codec"), std::string::npos);
  EXPECT_NE(refusal("dense ratio=0.5").find("ratio"), std::string::npos);
  EXPECT_NE(refusal("topk | rice bits=3").find("bits"), std::string::npos);
  EXPECT_NE(refusal("").find("empty"), std::string::npos);
}

TEST(Spec, EveryCompositionOfTheRegistryIsMade) {
  for (const auto& spec : all_specs()) EXPECT_TRUE(try_compressor(spec).ok()) << spec;
  EXPECT_TRUE(try_compressor("topk ratio=0.01 | rice | two_level").ok());
}

TEST(Spec, LosslessIsDenseF32) {
  for (const auto& spec : all_specs()) EXPECT_EQ(*is_lossless(spec), spec == "dense" || spec == "dense | f32") << spec;
}

TEST(Registry, RowsAreNamedOnceAndExplained) {
  std::vector<std::string_view> names;
  for (const CompressRow& row : registry()) {
    EXPECT_EQ(std::count(names.begin(), names.end(), row.name), 0);
    names.push_back(row.name);
    EXPECT_FALSE(row.help.empty() || row.bits.empty() || row.source.empty()) << row.name;
  }
}

TEST(Auto, IsTheSmallestIndexCodec) {
  for (const char* ratio : {"0.00001", "0.001", "0.01", "0.2", "0.5", "0.9"}) {
    const auto values = normal_vector(100000, 3);
    const std::string selector = std::string("topk ratio=") + ratio + " | bf16";
    std::size_t least = SIZE_MAX;
    for (const Stage& stage : stages()) {
      if (stage.index_coder == nullptr || !stage.index_coder->exact()) continue;
      least = std::min(least, payload((*try_compressor(selector + " | " + std::string(stage.row.name)))->compress(values, 0)));
    }
    EXPECT_EQ(payload((*try_compressor(selector))->compress(values, 0)), least) << ratio;
    EXPECT_EQ(payload((*try_compressor(selector + " | auto"))->compress(values, 0)), least) << ratio;
  }
  const GradientBlock whole = (*try_compressor("topk ratio=1"))->compress(normal_vector(1000, 3), 0);
  EXPECT_EQ(whole.index_codec, IndexCodec::none);
  EXPECT_TRUE(whole.indices.empty());
}

TEST(Size, TopkTwoLevelRiceCostsLittleMoreThanTenBitsAnEntry) {
  const GradientBlock block = (*try_compressor("topk ratio=0.01 | two_level | rice"))->compress(normal_vector(1000000, 21), 0);
  ASSERT_EQ(block.count, 10000U);
  EXPECT_LE(8.0 * static_cast<double>(payload(block)) / 10000, 10.3);
}

}  // namespace
}  // namespace hourglass::compress::testing
