// SPDX-License-Identifier: Apache-2.0
// What every row of datasets() must keep. Rows whose files are there without further ado (a default folder, or none needed) are also read.
#include <gtest/gtest.h>

#include <set>

#include "learning/data/dataset.h"

namespace hourglass::data {
namespace {

class DatasetContract : public testing::TestWithParam<DatasetRow> {
 protected:
  /// True where an empty folder name is enough.
  static bool at_hand() { return !GetParam().default_dir.empty() || GetParam().name == "synthetic"; }
};

TEST_P(DatasetContract, TheRowIsComplete) {
  const DatasetRow& row = GetParam();
  EXPECT_FALSE(row.help.empty());
  EXPECT_GT(row.channels * row.height * row.width, 0U);
  EXPECT_GE(row.classes, 2U);
  ASSERT_EQ(row.mean.size(), row.channels);
  ASSERT_EQ(row.deviation.size(), row.channels);
  for (std::size_t channel = 0; channel < row.channels; ++channel) {
    EXPECT_GT(row.mean[channel], 0.0F);
    EXPECT_LT(row.mean[channel], 1.0F);
    EXPECT_GT(row.deviation[channel], 0.0F);
    EXPECT_LE(row.deviation[channel], 0.5F);
  }
}

TEST_P(DatasetContract, IsFoundByItsName) {
  const auto found = find_dataset(GetParam().name);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ((*found)->name, GetParam().name);
}

TEST_P(DatasetContract, BothSplitsReadOrSayWhatToDo) {
  const DatasetRow& row = GetParam();
  for (const Split split : {Split::train, Split::test}) {
    const Result<Dataset> loaded = load_dataset(row.name, "", split, 3);
    ASSERT_EQ(loaded.ok(), at_hand()) << (loaded ? "" : loaded.error().text);
    if (!loaded) {
      EXPECT_EQ(loaded.error().code, Errc::bad_data);
      EXPECT_NE(loaded.error().text.find("--data-dir"), std::string::npos) << loaded.error().text;
      continue;
    }
    EXPECT_EQ(loaded->sample_bytes(), std::size_t{row.channels} * row.height * row.width);
    ASSERT_GT(loaded->size(), 0U);
    std::set<std::uint16_t> seen;
    for (std::size_t i = 0; i < loaded->size(); ++i) {
      EXPECT_EQ(loaded->image(i).size(), loaded->sample_bytes());
      seen.insert(loaded->label(i));
    }
    EXPECT_EQ(seen.size(), row.classes);
    EXPECT_EQ(*seen.rbegin(), row.classes - 1);
  }
}

TEST_P(DatasetContract, AnEmptyFolderIsRefusedUnlessNoFilesAreNeeded) {
  const Result<Dataset> loaded = load_dataset(GetParam().name, "/nonexistent", Split::train, 1);
  EXPECT_EQ(loaded.ok(), GetParam().name == "synthetic");
  if (!loaded) {
    EXPECT_NE(loaded.error().text.find("/nonexistent/"), std::string::npos) << loaded.error().text;
    EXPECT_NE(loaded.error().text.find("--data-dir"), std::string::npos) << loaded.error().text;
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, DatasetContract, testing::ValuesIn(datasets()), [](const auto& row) { return std::string(row.param.name); });

TEST(DatasetRows, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const DatasetRow& row : datasets()) EXPECT_TRUE(names.insert(row.name).second) << row.name;
}

TEST(DatasetRows, UnknownNamesGetTheListAndTheNearest) {
  const auto found = find_dataset("fashion-mnist");
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, Errc::bad_config);
  EXPECT_NE(found.error().text.find("fashion_mnist, mnist, cifar10, synthetic"), std::string::npos) << found.error().text;
  EXPECT_NE(found.error().text.find("did you mean 'fashion_mnist'?"), std::string::npos) << found.error().text;
}

}  // namespace
}  // namespace hourglass::data
