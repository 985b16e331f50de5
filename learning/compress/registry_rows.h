// SPDX-License-Identifier: Apache-2.0
// The tables that the registry is put together from: a new method is a row in one of them.
#pragma once

#include <vector>

#include "learning/compress/registry.h"

namespace hourglass::compress {

std::vector<Stage> memory_rows();
std::vector<Stage> ratio_policy_rows();
std::vector<Stage> selector_rows();
std::vector<Stage> transform_rows();
std::vector<Stage> value_codec_rows();
std::vector<Stage> index_codec_rows();

}  // namespace hourglass::compress
