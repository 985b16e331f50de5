// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace hourglass::top {

struct Look {
  std::size_t columns = 100;
  std::size_t rows = 0;  ///< 0: as many as it takes
  bool colour = false;   ///< ANSI
};

/// Lines for a terminal from a monitor's /api/v1/state: run, what it waits for, ledger, staleness, traffic, a row for each process. No line
/// is wider than `columns`; where there are more than `rows`, the last one says how many are left out. Empty where the text is none of its
/// JSON.
std::optional<std::vector<std::string>> screen_of(const std::string& state, const Look& look);

}  // namespace hourglass::top
