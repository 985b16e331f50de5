// SPDX-License-Identifier: Apache-2.0
// The idx format of MNIST and its relatives: a big-endian header {0, 0, type, rank, sizes...}, then the values, row-major.
// Images are unsigned bytes of rank 3 (magic 0x00000803), labels unsigned bytes of rank 1 (0x00000801).
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "learning/data/data_file.h"
#include "learning/data/dataset.h"

namespace hourglass::data {

/// Reads {train,t10k}-{images-idx3,labels-idx1}-ubyte of `dir`, plain or with .gz added.
Result<Dataset> read_idx(const DatasetRow& row, const std::string& dir, Split split, std::uint64_t seed);

/// The same from open files. Refuses: another magic, type, rank or image size than the row's, no samples, different counts, labels
/// beyond the row's classes, fewer or more bytes than the header says.
Result<Dataset> parse_idx(const DatasetRow& row, DataFile images, DataFile labels);

}  // namespace hourglass::data
