// SPDX-License-Identifier: Apache-2.0
// The secret that lets people give commands on the dashboard.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hourglass {

inline constexpr std::string_view kTokenFile = "monitor.token";

/// 128 random bits, as 32 hexadecimal digits.
std::string new_token();
/// Of a run folder: the token in its kTokenFile; where there is none, or another is wanted, that or a new one is written there, readable by
/// its owner alone. Errors: io.
Result<std::string> token_of(const std::string& folder, const std::string& wanted = "");

}  // namespace hourglass
