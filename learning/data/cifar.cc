// SPDX-License-Identifier: Apache-2.0
#include "learning/data/cifar.h"

namespace hourglass::data {
namespace {
constexpr std::size_t kRecordsAtOnce = 256;  // bounds what a compressed file can make us hold beyond its samples
}  // namespace

Status append_cifar(const DatasetRow& row, DataFile& file, Bytes& images, std::vector<std::uint16_t>& labels) {
  const std::size_t sample_bytes = std::size_t{row.channels} * row.height * row.width;
  const std::size_t record_bytes = 1 + sample_bytes;
  Bytes block(kRecordsAtOnce * record_bytes);
  const std::size_t before = labels.size();
  for (;;) {
    const Result<std::size_t> got = file.read(block);
    if (!got) return got.error();
    if (*got % record_bytes != 0) {
      return file.wrong("truncated or not CIFAR's binary version: expected whole records of " + std::to_string(record_bytes) + " bytes, " +
                        std::to_string(*got % record_bytes) + " are left over");
    }
    if (images.size() + *got > kDataFileBytesMax) {
      return {Errc::over_limit, file.name() + ": more samples than the limit of " + std::to_string(kDataFileBytesMax) + " bytes admits"};
    }
    for (std::size_t at = 0; at < *got; at += record_bytes) {
      const auto label = std::to_integer<std::uint16_t>(block[at]);
      if (label >= row.classes) {
        return file.wrong("label " + std::to_string(label) + " of sample " + std::to_string(labels.size() - before) +
                          " is beyond the expected 0 to " + std::to_string(row.classes - 1));
      }
      labels.push_back(label);
      const auto pixels = block.begin() + static_cast<std::ptrdiff_t>(at + 1);
      images.insert(images.end(), pixels, pixels + static_cast<std::ptrdiff_t>(sample_bytes));
    }
    if (*got < block.size()) break;
  }
  if (labels.size() == before) return file.wrong("is empty; expected records of " + std::to_string(record_bytes) + " bytes");
  return {};
}

Result<Dataset> read_cifar(const DatasetRow& row, const std::string& dir, Split split, std::uint64_t /*seed*/) {
  std::vector<std::string> names;
  if (split == Split::test) {
    names = {"test_batch.bin"};
  } else {
    for (int i = 1; i <= 5; ++i) names.push_back("data_batch_" + std::to_string(i) + ".bin");
  }
  Bytes images;
  std::vector<std::uint16_t> labels;
  for (const std::string& name : names) {
    const std::string here = dir + "/" + name;
    const std::string below = dir + "/cifar-10-batches-bin/" + name;
    Result<DataFile> file = DataFile::open({here, here + ".gz", below, below + ".gz"});
    if (!file) return file.error();
    if (const Status done = append_cifar(row, *file, images, labels); !done) return done.error();
  }
  return Dataset(std::size_t{row.channels} * row.height * row.width, std::move(images), std::move(labels));
}

}  // namespace hourglass::data
