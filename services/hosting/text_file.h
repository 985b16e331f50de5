// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace hourglass {

Status write_text(const std::string& path, const std::string& text);  ///< as a whole or not at all
/// Nothing where it cannot be read or is longer.
std::optional<std::string> read_text(const std::string& path, std::uint64_t bytes_max = 64U << 20);

}  // namespace hourglass
