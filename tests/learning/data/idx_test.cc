// SPDX-License-Identifier: Apache-2.0
#include "learning/data/idx.h"

#include "tests/learning/data/fixtures.h"

namespace hourglass::data {
namespace {

constexpr std::uint32_t kSide = 28;
constexpr std::size_t kPixels = 784;

Bytes labels_0_to(std::size_t count) {
  Bytes out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(static_cast<std::byte>(i % 10));
  return out;
}

/// A folder with 12 training and 3 test samples in MNIST's layout, some plain, some gzip.
void write_good(const TemporaryFolder& folder) {
  folder.write("train-images-idx3-ubyte", idx_images(12, kSide, kSide, ramp(12 * kPixels)));
  folder.write("train-labels-idx1-ubyte.gz", gzip(idx_labels(12, labels_0_to(12))));
  folder.write("t10k-images-idx3-ubyte.gz", gzip(idx_images(3, kSide, kSide, ramp(3 * kPixels, 9))));
  folder.write("t10k-labels-idx1-ubyte", idx_labels(3, labels_0_to(3)));
}

void expect_refused(const TemporaryFolder& folder, Errc code, std::initializer_list<std::string> texts) {
  const Result<Dataset> loaded = load_dataset("mnist", folder.path(), Split::train, 1);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().code, code) << loaded.error().text;
  for (const std::string& text : texts) EXPECT_NE(loaded.error().text.find(text), std::string::npos) << loaded.error().text;
  EXPECT_NE(loaded.error().text.find("--data-dir"), std::string::npos) << "the next step: " << loaded.error().text;
}

TEST(Idx, ReadsBothSplits) {
  const TemporaryFolder folder;
  write_good(folder);
  const Result<Dataset> train = load_dataset("mnist", folder.path(), Split::train, 1);
  ASSERT_TRUE(train.ok()) << train.error().text;
  ASSERT_EQ(train->size(), 12U);
  EXPECT_EQ(train->sample_bytes(), kPixels);
  EXPECT_EQ(train->label(11), 1);
  const Bytes pixels = ramp(12 * kPixels);
  EXPECT_TRUE(std::equal(pixels.begin() + 11 * kPixels, pixels.end(), train->image(11).begin()));
  const Result<Dataset> test = load_dataset("mnist", folder.path(), Split::test, 1);
  ASSERT_TRUE(test.ok()) << test.error().text;
  ASSERT_EQ(test->size(), 3U);
  EXPECT_EQ(test->image(0)[0], std::byte{9});
}

TEST(Idx, MissingFilesNameTheNextStep) {
  const TemporaryFolder folder;
  expect_refused(folder, Errc::bad_data, {folder.path() + "/train-images-idx3-ubyte, ", "train-images-idx3-ubyte.gz"});
  const Result<Dataset> fashion = load_dataset("fashion_mnist", folder.path(), Split::test, 1);
  ASSERT_FALSE(fashion.ok());
  EXPECT_NE(fashion.error().text.find("install Debian's dataset-fashion-mnist or give --data-dir"), std::string::npos)
      << fashion.error().text;
  const Result<Dataset> nowhere = load_dataset("mnist", "", Split::test, 1);
  ASSERT_FALSE(nowhere.ok());
  EXPECT_NE(nowhere.error().text.find("no default folder; give --data-dir"), std::string::npos) << nowhere.error().text;
}

TEST(Idx, RefusesWrongMagicTypeAndRank) {
  const TemporaryFolder folder;
  write_good(folder);
  for (const std::uint32_t magic : {0x00000D03U, 0x00000801U, 0x00000804U, 0x01000803U, 0x03080000U, 0x3c68746dU}) {
    Bytes file = idx_images(12, kSide, kSide, ramp(12 * kPixels));
    for (std::size_t i = 0; i < 4; ++i) file[i] = static_cast<std::byte>(magic >> (24 - 8 * i));
    folder.write("train-images-idx3-ubyte", file);
    expect_refused(folder, Errc::bad_data, {"train-images-idx3-ubyte: is not an idx file of images", "0x00000803"});
  }
}

TEST(Idx, RefusesSwappedFiles) {
  const TemporaryFolder folder;
  folder.write("train-images-idx3-ubyte", idx_labels(12, labels_0_to(12)));
  folder.write("train-labels-idx1-ubyte", idx_images(12, kSide, kSide, ramp(12 * kPixels)));
  expect_refused(folder, Errc::bad_data, {"train-labels-idx1-ubyte: is not an idx file of labels", "0x00000801", "0x00000803"});
}

TEST(Idx, RefusesAbsurdSizes) {
  const TemporaryFolder folder;
  write_good(folder);
  folder.write("train-images-idx3-ubyte", idx_images(12, 0xffffffff, 0xffffffff, ramp(kPixels)));
  expect_refused(folder, Errc::bad_data, {"expected images of 28 x 28, got 4294967295 x 4294967295"});
  folder.write("train-images-idx3-ubyte", idx_images(12, 32, 32, ramp(std::size_t{12} * 32 * 32)));
  expect_refused(folder, Errc::bad_data, {"expected images of 28 x 28, got 32 x 32"});
  folder.write("train-labels-idx1-ubyte.gz", gzip(idx_labels(0xffffffff, labels_0_to(12))));
  expect_refused(folder, Errc::over_limit, {"train-labels-idx1-ubyte.gz", "4294967295 bytes"});
  folder.write("train-labels-idx1-ubyte.gz", gzip(idx_labels(200'000'000, labels_0_to(12))));
  expect_refused(folder, Errc::bad_data, {"truncated: expected 200000000 bytes of labels"});
}

TEST(Idx, RefusesDifferentCountsAndEmptySets) {
  const TemporaryFolder folder;
  write_good(folder);
  folder.write("train-labels-idx1-ubyte.gz", gzip(idx_labels(11, labels_0_to(11))));
  expect_refused(folder, Errc::bad_data, {"has 12 images, but", "train-labels-idx1-ubyte.gz has 11 labels"});
  folder.write("train-labels-idx1-ubyte.gz", gzip(idx_labels(0, {})));
  expect_refused(folder, Errc::bad_data, {"holds no labels"});
}

TEST(Idx, RefusesLabelsBeyondTheClasses) {
  const TemporaryFolder folder;
  write_good(folder);
  Bytes labels = labels_0_to(12);
  labels[7] = std::byte{10};
  folder.write("train-labels-idx1-ubyte.gz", gzip(idx_labels(12, labels)));
  expect_refused(folder, Errc::bad_data, {"label 10 of sample 7", "0 to 9"});
}

TEST(Idx, RefusesTruncatedAndTrailingData) {
  const TemporaryFolder folder;
  write_good(folder);
  const Bytes whole = idx_images(12, kSide, kSide, ramp(12 * kPixels));
  for (const std::size_t size : {std::size_t{0}, std::size_t{3}, std::size_t{15}, std::size_t{16}, whole.size() - 1}) {
    folder.write("train-images-idx3-ubyte", Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
    expect_refused(folder, Errc::bad_data, {"train-images-idx3-ubyte: truncated"});
  }
  folder.write("train-images-idx3-ubyte", joined(whole, ramp(1)));
  expect_refused(folder, Errc::bad_data, {"more data than its header says"});
  folder.write("train-images-idx3-ubyte", joined(gzip(whole), ramp(3)));
  expect_refused(folder, Errc::bad_data, {"trailing bytes after the gzip data"});
  Bytes cut = gzip(whole);
  cut.resize(cut.size() - 5);
  folder.write("train-images-idx3-ubyte", cut);
  expect_refused(folder, Errc::bad_data, {"truncated gzip data"});
}

}  // namespace
}  // namespace hourglass::data
