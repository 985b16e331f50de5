// SPDX-License-Identifier: Apache-2.0
#include "learning/data/cifar.h"

#include "tests/learning/data/fixtures.h"

namespace hourglass::data {
namespace {

constexpr std::size_t kSample = 3072;

/// `count` records; the first has label `first`.
Bytes records(std::size_t count, std::size_t first) {
  Bytes out;
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back(static_cast<std::byte>((first + i) % 10));
    out = joined(std::move(out), ramp(kSample, first * 100 + i));
  }
  return out;
}

/// Five training files of 1 to 5 records, the even ones gzip, and a test file of 300 records.
void write_good(const TemporaryFolder& folder, const std::string& below) {
  for (std::size_t i = 1; i <= 5; ++i) {
    const std::string name = below + "data_batch_" + std::to_string(i) + ".bin";
    folder.write(i % 2 == 0 ? name + ".gz" : name, i % 2 == 0 ? gzip(records(i, i)) : records(i, i));
  }
  folder.write(below + "test_batch.bin.gz", gzip(records(300, 4)));
}

void expect_refused(const TemporaryFolder& folder, std::initializer_list<std::string> texts) {
  const Result<Dataset> loaded = load_dataset("cifar10", folder.path(), Split::train, 1);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().code, Errc::bad_data);
  for (const std::string& text : texts) EXPECT_NE(loaded.error().text.find(text), std::string::npos) << loaded.error().text;
  EXPECT_NE(loaded.error().text.find("--data-dir"), std::string::npos) << "the next step: " << loaded.error().text;
}

TEST(Cifar, ReadsTheFilesInOrderFromEitherFolder) {
  for (const std::string below : {"", "cifar-10-batches-bin/"}) {
    const TemporaryFolder folder;
    write_good(folder, below);
    const Result<Dataset> train = load_dataset("cifar10", folder.path(), Split::train, 1);
    ASSERT_TRUE(train.ok()) << train.error().text;
    ASSERT_EQ(train->size(), 15U);
    EXPECT_EQ(train->sample_bytes(), kSample);
    std::size_t sample = 0;
    for (std::size_t file = 1; file <= 5; ++file) {
      for (std::size_t i = 0; i < file; ++i, ++sample) {
        EXPECT_EQ(train->label(sample), (file + i) % 10);
        const Bytes expected = ramp(kSample, file * 100 + i);
        EXPECT_TRUE(std::equal(expected.begin(), expected.end(), train->image(sample).begin()));
      }
    }
    const Result<Dataset> test = load_dataset("cifar10", folder.path(), Split::test, 1);
    ASSERT_TRUE(test.ok()) << test.error().text;
    ASSERT_EQ(test->size(), 300U);
    EXPECT_EQ(test->label(299), (4 + 299) % 10);
    const Bytes last = ramp(kSample, 400 + 299);
    EXPECT_TRUE(std::equal(last.begin(), last.end(), test->image(299).begin()));
  }
}

TEST(Cifar, RefusesBrokenRecords) {
  const TemporaryFolder folder;
  write_good(folder, "");
  Bytes cut = records(3, 3);
  cut.pop_back();
  folder.write("data_batch_3.bin", cut);
  expect_refused(folder, {"data_batch_3.bin: truncated", "3073 bytes", "3072 are left over"});
  folder.write("data_batch_3.bin", joined(records(3, 3), ramp(1)));
  expect_refused(folder, {"data_batch_3.bin", "1 are left over"});
  folder.write("data_batch_3.bin", {});
  expect_refused(folder, {"data_batch_3.bin: is empty"});
}

TEST(Cifar, RefusesTruncatedGzip) {
  const TemporaryFolder folder;
  write_good(folder, "");
  Bytes cut = gzip(records(2, 2));
  cut.resize(cut.size() / 2);
  folder.write("data_batch_2.bin.gz", cut);
  expect_refused(folder, {"data_batch_2.bin.gz: truncated gzip data"});
}

TEST(Cifar, RefusesLabelsBeyondTheClasses) {
  const TemporaryFolder folder;
  write_good(folder, "");
  Bytes bad = records(5, 5);
  bad[4 * (kSample + 1)] = std::byte{10};
  folder.write("data_batch_5.bin", bad);
  expect_refused(folder, {"data_batch_5.bin: label 10 of sample 4", "0 to 9"});
}

TEST(Cifar, MissingFilesNameTheNextStep) {
  const TemporaryFolder folder;
  write_good(folder, "");
  std::filesystem::remove(folder.path() + "/data_batch_4.bin.gz");
  expect_refused(folder, {"/data_batch_4.bin, ", "/data_batch_4.bin.gz, ", "/cifar-10-batches-bin/data_batch_4.bin.gz", "cifar-10-binary"});
}

TEST(Cifar, BoundsWhatAllFilesDecodeTo) {
  DataFile file("one_too_many.gz", gzip(records(300, 0)));
  Bytes images(kDataFileBytesMax - 299 * kSample);  // as if from earlier files
  std::vector<std::uint16_t> labels;
  const Status done = append_cifar(**find_dataset("cifar10"), file, images, labels);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code, Errc::over_limit) << done.error().text;
  EXPECT_LE(images.size(), kDataFileBytesMax);
}

}  // namespace
}  // namespace hourglass::data
