// SPDX-License-Identifier: Apache-2.0
#include "learning/data/dataset.h"

#include "base/spec.h"
#include "learning/data/cifar.h"
#include "learning/data/idx.h"
#include "learning/data/synthetic.h"

namespace hourglass::data {
namespace {

struct Entry {
  DatasetRow row;
  std::string_view next_step;  ///< for errors: what the user can do; "" where there are no files
  Result<Dataset> (*read)(const DatasetRow& row, const std::string& dir, Split split, std::uint64_t seed);
};

const std::vector<Entry>& entries() {
  static const std::vector<Entry> table = {
      {{"fashion_mnist",
        "Zalando's Fashion-MNIST, 60,000 + 10,000 grey images of clothes; Debian's package dataset-fashion-mnist",
        1,
        28,
        28,
        10,
        {0.2860F},
        {0.3530F},
        "/usr/share/datasets/fashion-mnist"},
       "install Debian's dataset-fashion-mnist or give --data-dir",
       &read_idx},
      {{"mnist",
        "LeCun's handwritten digits, 60,000 + 10,000 grey images; idx files, plain or .gz, by --data-dir",
        1,
        28,
        28,
        10,
        {0.1307F},
        {0.3081F},
        ""},
       "give --data-dir a folder with train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and "
       "t10k-labels-idx1-ubyte, each plain or .gz",
       &read_idx},
      {{"cifar10",
        "Krizhevsky's CIFAR-10, 50,000 + 10,000 colour images; the binary version, plain or .gz, by --data-dir",
        3,
        32,
        32,
        10,
        {0.49140F, 0.48216F, 0.44653F},
        {0.24703F, 0.24349F, 0.26158F},
        ""},
       "unpack CIFAR-10's binary version (cifar-10-binary.tar.gz) and give --data-dir the folder with data_batch_1.bin to "
       "data_batch_5.bin and test_batch.bin, or the one above it",
       &read_cifar},
      {{"synthetic", "noisy patterns made from the seed, 6,000 + 1,000 grey images; needs no files", 1, 28, 28, 10, {0.5F}, {0.24F}, ""},
       "",
       &make_synthetic},
  };
  return table;
}

}  // namespace

const std::vector<DatasetRow>& datasets() {
  static const std::vector<DatasetRow> rows = [] {
    std::vector<DatasetRow> out;
    for (const Entry& entry : entries()) out.push_back(entry.row);
    return out;
  }();
  return rows;
}

Result<const DatasetRow*> find_dataset(std::string_view name) {
  std::vector<std::string> known;
  std::string list;
  for (const DatasetRow& row : datasets()) {
    if (row.name == name) return &row;
    known.emplace_back(row.name);
    list += (list.empty() ? "" : ", ") + known.back();
  }
  const std::string near = nearest_name(name, known);
  return {Errc::bad_config,
          "unknown dataset '" + std::string(name) + "'; known are " + list + (near.empty() ? "" : "; did you mean '" + near + "'?")};
}

Result<Dataset> load_dataset(std::string_view name, std::string_view dir, Split split, std::uint64_t seed) {
  const Result<const DatasetRow*> found = find_dataset(name);
  if (!found) return found.error();
  const Entry& entry = entries()[static_cast<std::size_t>(*found - datasets().data())];
  const std::string folder(dir.empty() ? entry.row.default_dir : dir);
  if (folder.empty() && !entry.next_step.empty()) {
    return {Errc::bad_data, "dataset " + std::string(name) + " has no default folder; " + std::string(entry.next_step)};
  }
  Result<Dataset> loaded = entry.read(entry.row, folder, split, seed);
  if (loaded) return loaded;
  return {loaded.error().code, loaded.error().text + "; " + std::string(entry.next_step)};
}

}  // namespace hourglass::data
