// SPDX-License-Identifier: Apache-2.0
// The real files of Debian's package dataset-fashion-mnist, which the tests need.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "learning/data/dataset.h"

namespace hourglass::data {
namespace {

TEST(FashionMnist, HasItsPublishedSizesAndFirstLabels) {
  const Result<Dataset> train = load_dataset("fashion_mnist", "", Split::train, 1);
  ASSERT_TRUE(train.ok()) << train.error().text;
  const Result<Dataset> test = load_dataset("fashion_mnist", "", Split::test, 1);
  ASSERT_TRUE(test.ok()) << test.error().text;
  ASSERT_EQ(train->size(), 60'000U);
  ASSERT_EQ(test->size(), 10'000U);
  const std::array<std::uint16_t, 10> first_train = {9, 0, 0, 3, 0, 2, 7, 2, 5, 5};
  const std::array<std::uint16_t, 10> first_test = {9, 2, 1, 1, 6, 1, 4, 6, 5, 7};
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(train->label(i), first_train[i]) << i;
    EXPECT_EQ(test->label(i), first_test[i]) << i;
  }
  std::vector<int> counts(10);
  for (std::size_t i = 0; i < train->size(); ++i) ++counts[train->label(i)];
  EXPECT_EQ(counts, std::vector<int>(10, 6000));
}

TEST(FashionMnist, MeanAndDeviationAreTheRows) {
  const DatasetRow& row = **find_dataset("fashion_mnist");
  const Result<Dataset> train = load_dataset("fashion_mnist", "", Split::train, 1);
  ASSERT_TRUE(train.ok()) << train.error().text;
  std::array<double, 256> counts{};
  for (std::size_t i = 0; i < train->size(); ++i) {
    for (const std::byte each : train->image(i)) ++counts[std::to_integer<std::size_t>(each)];
  }
  const double total = static_cast<double>(train->size() * train->sample_bytes());
  double mean = 0.0;
  double square = 0.0;
  for (std::size_t value = 0; value < counts.size(); ++value) {
    const double level = static_cast<double>(value) / 255.0;
    mean += counts[value] / total * level;
    square += counts[value] / total * level * level;
  }
  EXPECT_NEAR(mean, row.mean[0], 1e-3);
  EXPECT_NEAR(std::sqrt(square - mean * mean), row.deviation[0], 1e-3);
}

}  // namespace
}  // namespace hourglass::data
