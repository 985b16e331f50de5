// SPDX-License-Identifier: Apache-2.0
// From all sources to one set of values, by precedence flag > environment > job file > default.
#pragma once

#include <string>
#include <vector>

#include "services/options/source.h"

namespace hourglass {

struct Resolved {
  Settings settings;
  std::vector<std::string> origins;  ///< by row of setting_table(): "default", "run.toml:4:6", ...
  std::vector<Problem> problems;     ///< of every source, not only the first
  std::vector<std::string> warnings;

  [[nodiscard]] bool is_default(std::string_view key) const;
  [[nodiscard]] const std::string& origin(std::string_view key) const;
  void reject(std::string_view key, const std::string& cause);  ///< adds a problem that names key, value and origin
};

/// `sources` from the weakest to the strongest.
Resolved resolve(const std::vector<Source>& sources);

/// Of several problems: usage before missing data before config. `ok` where there are none.
ExitCode worst(const std::vector<Problem>& problems);

/// Every key with value and origin, as valid TOML. Reading it back gives the same settings.
std::string print_config(const Resolved& resolved);

}  // namespace hourglass
