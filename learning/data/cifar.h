// SPDX-License-Identifier: Apache-2.0
// CIFAR-10's binary version (Krizhevsky 2009): records of one label byte and 3 x 32 x 32 pixel bytes (red, green, blue planes).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "learning/data/data_file.h"
#include "learning/data/dataset.h"

namespace hourglass::data {

/// Reads data_batch_1.bin to data_batch_5.bin, or test_batch.bin, each plain or with .gz added, from `dir` or from the folder
/// cifar-10-batches-bin in it.
Result<Dataset> read_cifar(const DatasetRow& row, const std::string& dir, Split split, std::uint64_t seed);

/// Appends one file's samples. Refuses: a broken record, an empty file, labels beyond the row's classes, and over_limit more than
/// kDataFileBytesMax of images in all.
Status append_cifar(const DatasetRow& row, DataFile& file, Bytes& images, std::vector<std::uint16_t>& labels);

}  // namespace hourglass::data
