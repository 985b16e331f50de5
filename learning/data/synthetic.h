// SPDX-License-Identifier: Apache-2.0
// A dataset without files, for tests and first steps: every class is a smooth pattern, every sample its class's pattern, shifted by up to
// a pixel, with noise. Integers only, so that a seed gives the same bytes on every machine.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "learning/data/dataset.h"

namespace hourglass::data {

inline constexpr std::size_t kSyntheticTrain = 6000;
inline constexpr std::size_t kSyntheticTest = 1000;

/// Both splits have the patterns of the seed and noise of their own. Sample i has class i mod classes. `dir` is not used.
Result<Dataset> make_synthetic(const DatasetRow& row, const std::string& dir, Split split, std::uint64_t seed);

}  // namespace hourglass::data
