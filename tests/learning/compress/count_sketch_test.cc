// SPDX-License-Identifier: Apache-2.0
#include "learning/compress/count_sketch.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "learning/compress/sketch_blob.h"
#include "tests/learning/compress/hostile.h"

namespace hourglass::compress::testing {
namespace {

constexpr std::size_t kLength = 20000;
constexpr float kStep = 0x1p-12F;

/// `count` values that are multiples of kStep, elsewhere 0.
std::vector<float> sparse_vector(std::size_t count, std::uint64_t seed, std::size_t length = kLength) {
  Random random(seed);
  std::vector<float> out(length, 0.0F);
  for (std::size_t i = 0; i < count; ++i) {
    out[random.below(length)] =
        kStep * static_cast<float>(static_cast<std::int64_t>(1 + random.below(5000)) * (random.below(2) == 0 ? 1 : -1));
  }
  return out;
}

std::vector<float> sum_of(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> out(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) out[i] = a[i] + b[i];
  return out;
}

GradientBlock sketch(const std::vector<float>& values, std::uint64_t key, const std::string& options = "cells=0.2 exponent=-12") {
  return compressor_of("count_sketch " + options, values.size())->compress(values, key);
}

SketchForm form_of(const GradientBlock& block) { return read_sketch(block).value().form; }

TEST(CountSketch, PeelsToWhatWasEncodedExactly) {
  for (const std::size_t count : {1UL, 2UL, 10UL, 1000UL, 15000UL}) {
    const auto values = sparse_vector(count, count);
    for (const char* options : {"", "width=16", "exponent=-12", "cells=2 exponent=-12 width=16"}) {
      const auto block = sketch(values, count, options);
      EXPECT_EQ(form_of(block), SketchForm::exact);
      EXPECT_EQ(decoded(block, kLength), values) << count << options;
    }
  }
}

TEST(CountSketch, RoundsToTheNearestStep) {
  const auto values = normal_vector(3000, 8);
  const auto out = decoded(sketch(values, 1, "exponent=-10"), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_LE(std::abs(out[i] - values[i]), 0x1p-11F);
  const auto fine = decoded(sketch(values, 1, ""), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_LE(std::abs(fine[i] - values[i]), 4 * 0x1p-20F);
}

TEST(CountSketch, ARangeOfZerosAddsNothing) {
  const auto a = sparse_vector(300, 1);
  const GradientBlock zeros = sketch(std::vector<float>(kLength), 7);
  for (const char* options : {"cells=0.2 exponent=-12", "form=float cells=0.2"}) {
    GradientBlock merged = zeros;
    ASSERT_TRUE(merge(merged, zeros).ok());
    EXPECT_TRUE(equal(merged, zeros));
    ASSERT_TRUE(merge(merged, sketch(a, 7, options)).ok());
    ASSERT_TRUE(merge(merged, zeros).ok());
    EXPECT_TRUE(equal(merged, sketch(a, 7, options)));
  }
  GradientBlock other_range = sketch(std::vector<float>(kLength - 1), 7);
  EXPECT_FALSE(merge(other_range, sketch(a, 7)).ok());
}

TEST(CountSketch, IsLinearInIntegers) {
  const auto a = sparse_vector(300, 1);
  const auto b = sparse_vector(300, 2);
  GradientBlock merged = sketch(a, 7);
  ASSERT_TRUE(merge(merged, sketch(b, 7)).ok());
  EXPECT_EQ(form_of(merged), SketchForm::exact);
  EXPECT_EQ(read_sketch(merged)->values, read_sketch(sketch(sum_of(a, b), 7))->values);
  EXPECT_EQ(decoded(merged, kLength), sum_of(a, b));
}

TEST(CountSketch, WhatCancelsIsZero) {
  const auto a = sparse_vector(300, 1);
  auto b = a;
  for (float& value : b) value = -value;
  GradientBlock merged = sketch(a, 7);
  ASSERT_TRUE(merge(merged, sketch(b, 7)).ok());
  EXPECT_EQ(decoded(merged, kLength), std::vector<float>(kLength, 0.0F));
}

TEST(CountSketch, OrderOfMergingDoesNotMatter) {
  // 8 x 1,000 members do not peel from 4,000 cells any more: somewhere along the way the integers themselves take over.
  for (const std::size_t count : {100UL, 400UL, 1000UL, 5000UL}) {
    std::vector<GradientBlock> parts;
    std::vector<float> sum(kLength, 0.0F);
    for (std::uint64_t worker = 0; worker < 8; ++worker) {
      const auto values = sparse_vector(count, 100 + worker);
      sum = sum_of(sum, values);
      parts.push_back(sketch(values, 9));
    }
    Random random(count);
    GradientBlock first;
    for (int round = 0; round < 6; ++round) {
      GradientBlock merged = parts[0];
      for (std::size_t i = 1; i < parts.size(); ++i) ASSERT_TRUE(merge(merged, parts[i]).ok());
      EXPECT_EQ(decoded(merged, kLength), sum) << count;
      if (round == 0) first = merged;
      EXPECT_TRUE(equal(merged, first));
      random.shuffle(parts);
    }
    GradientBlock left = parts[0];  // and as a tree
    GradientBlock right = parts[4];
    for (std::size_t i = 1; i < 4; ++i) {
      ASSERT_TRUE(merge(left, parts[i]).ok());
      ASSERT_TRUE(merge(right, parts[4 + i]).ok());
    }
    ASSERT_TRUE(merge(left, right).ok());
    EXPECT_TRUE(equal(left, first));
    EXPECT_EQ(form_of(first), count <= 400 ? SketchForm::exact : SketchForm::integers);
  }
}

TEST(CountSketch, FallsBackToIntegersWhereThePeelStalls) {
  const auto values = sparse_vector(5000, 3);
  const auto members = static_cast<std::size_t>(std::count_if(values.begin(), values.end(), [](float value) { return value != 0; }));
  for (const double cells :
       {0.05, 1.1 * static_cast<double>(members) / kLength}) {  // fewer cells than members; below the threshold of 1.22
    const auto block = sketch(values, 1, "exponent=-12 cells=" + std::to_string(cells));
    EXPECT_EQ(form_of(block), SketchForm::integers);
    EXPECT_EQ(decoded(block, kLength), values);
  }
}

TEST(CountSketch, RefusesToMergeWhatDiffers) {
  const auto values = sparse_vector(100, 3);
  const GradientBlock base = sketch(values, 1);
  for (const GradientBlock& other :
       {sketch(values, 2), sketch(values, 1, "cells=0.2 exponent=-11"), sketch(values, 1, "cells=0.1 exponent=-12"),
        sketch(values, 1, "cells=0.2 exponent=-12 width=16"), sketch(values, 1, "cells=0.2 form=float")}) {
    GradientBlock into = base;
    const Status merged = merge(into, other);
    ASSERT_FALSE(merged.ok());
    EXPECT_EQ(merged.error().code, Errc::bad_config);
    EXPECT_TRUE(equal(into, base));
  }
}

TEST(CountSketch, FloatFormIsUnbiasedWithTheVarianceOfItsCells) {
  const std::size_t length = 200;
  auto values = normal_vector(length, 2);
  const double total = energy(values);
  constexpr int kRounds = 3000;
  auto compressor = compressor_of("count_sketch form=float cells=0.5", length);
  std::vector<double> mean(length, 0.0);
  double error = 0;
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    const auto out = decoded(compressor->compress(values, round), length);
    error += squared_error(out, values) / kRounds;
    for (std::size_t i = 0; i < length; ++i) mean[i] += out[i] / kRounds;
  }
  EXPECT_NEAR(error / total, 200.0 / 100.0, 0.1);
  const double sigma = std::sqrt(total / 100 / kRounds);
  for (std::size_t i = 0; i < length; ++i) EXPECT_NEAR(mean[i], values[i], 4.5 * sigma);
}

TEST(CountSketch, FloatFormsAddUp) {
  const auto a = sparse_vector(300, 1);
  const auto b = sparse_vector(300, 2);
  GradientBlock merged = sketch(a, 7, "form=float cells=0.1");
  ASSERT_TRUE(merge(merged, sketch(b, 7, "form=float cells=0.1")).ok());
  EXPECT_TRUE(equal(merged, sketch(sum_of(a, b), 7, "form=float cells=0.1")));  // multiples of one step: exact
}

TEST(CountSketch, UnitsOfAMatrixAreItsRows) {
  const std::size_t columns = 64;
  std::vector<float> matrix(500 * columns, 0.0F);
  for (const std::size_t row : {3UL, 77UL, 499UL}) {
    for (std::size_t i = 0; i < columns; ++i) matrix[row * columns + i] = kStep * static_cast<float>(i + row);
  }
  const GradientBlock block = compressor_of("count_sketch exponent=-12", matrix.size(), columns)->compress(matrix, 1);
  EXPECT_EQ(read_sketch(block)->units, (std::vector<std::uint32_t>{3, 77, 499}));
  EXPECT_EQ(decoded(block, matrix.size()), matrix);
  EXPECT_LT(payload(block), 3 * columns * 4 * 1.4 + 150);
  const GradientBlock estimate = compressor_of("count_sketch form=float", matrix.size(), columns)->compress(matrix, 1);
  const auto out = decoded(estimate, matrix.size());
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_TRUE(out[i] == 0 || i / columns == 3 || i / columns == 77 || i / columns == 499);
}

TEST(CountSketch, HardVectorsBehave) {
  for (const char* spec : {"count_sketch form=float", "count_sketch width=16", "count_sketch form=float cells=4 unit=10"}) {
    expect_hard_vectors_behave(spec);
  }
}

TEST(CountSketch, HostileBlobsAreHarmless) {
  for (const char* options :
       {"cells=0.2 exponent=-12", "cells=0.2 exponent=-12 width=16", "cells=0.01 exponent=-12", "form=float", "unit=7"}) {
    SCOPED_TRACE(options);
    const auto values = sparse_vector(40, 5, 1000);
    expect_hostile_values_harmless(sketch(values, 1, options), values.size());
  }
}

TEST(CountSketch, RefusesWhatWouldTakeMemory) {
  GradientBlock block = sketch(sparse_vector(40, 5, 1000), 1);
  for (const auto& [at, value] : {std::pair{4, 0xffffffffU}, {4, 0U}, {16, 0U}, {16, 0xffffffffU}, {22, 0xffffffffU}, {26, 0xffffffffU}}) {
    GradientBlock bad = block;
    std::memcpy(bad.values.data() + at, &value, sizeof value);
    EXPECT_FALSE(validate(bad, 1000).ok()) << at;
    EXPECT_FALSE(merge(bad, block).ok());
  }
}

TEST(CountSketch, RefusesOptions) {
  for (const char* spec : {"count_sketch width=24", "count_sketch form=half", "count_sketch cells=5", "count_sketch exponent=97",
                           "count_sketch exponent=-150", "count_sketch unit=-1", "count_sketch x=1"}) {
    const auto made = try_compressor(spec);
    ASSERT_FALSE(made.ok()) << spec;
    EXPECT_EQ(made.error().code, Errc::bad_config);
  }
}

}  // namespace
}  // namespace hourglass::compress::testing
