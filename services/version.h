// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace hourglass {

/// "0.1.0 (1a2b3c4d5e6f)": version and commit, or "unknown" where the build had no repository and no HOURGLASS_COMMIT.
std::string build_name();

}  // namespace hourglass
