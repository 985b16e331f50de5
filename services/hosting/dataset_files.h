// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "actors/samples.h"

namespace hourglass {

/// Reads from this folder; empty: the dataset's default.
inline DatasetSource dataset_files(std::string folder) {
  return [folder = std::move(folder)](std::string_view name, data::Split split, std::uint64_t seed) {
    return data::load_dataset(name, folder, split, seed);
  };
}

}  // namespace hourglass
