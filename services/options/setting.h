// SPDX-License-Identifier: Apache-2.0
// One row of the table of settings: what drives flags, environment variables, job files, --help, --print-config and checks.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "services/options/settings.h"

namespace hourglass {

/// A value as a source gave it. Flags and environment variables are `text`; a job file knows types.
struct RawValue {
  enum class Type { text, toml_string, toml_integer, toml_real, toml_flag, toml_other };
  Type type = Type::text;
  std::string text;  ///< as written, without quotes
};

/// Whom a setting concerns: the whole job (train, aggregator, check, solo, simulate, chaos), each process, the simulator, or chaos.
enum class Scope { job, process, simulation, chaos };

struct Setting {
  std::string_view key;   ///< "train.batch": section and name in a job file, and what --set takes
  std::string_view flag;  ///< "--batch"
  Scope scope = Scope::job;
  std::string allowed;  ///< "a whole number from 1 to 4096"
  std::string_view help;
  /// Reads, checks and stores a value. The error's text says only what is allowed; the caller adds key, value and origin.
  std::function<Status(Settings&, const RawValue&)> assign;
  std::function<std::string(const Settings&)> show;  ///< as a TOML value
  bool secret = false;                               ///< print_config(), and so job.toml, leaves its value out

  [[nodiscard]] std::string environment_name() const;  ///< "HOURGLASS_BATCH": the flag in capitals, '-' as '_'
  [[nodiscard]] std::string_view section() const { return key.substr(0, key.find('.')); }
  [[nodiscard]] std::string_view name() const { return key.substr(key.find('.') + 1); }
};

/// All settings, grouped by section.
const std::vector<Setting>& setting_table();
/// Null where there is none.
const Setting* find_setting(std::string_view key);
std::vector<std::string> setting_keys();

/// A variable that begins with HOURGLASS_ but is no setting.
struct OtherVariable {
  std::string_view name;
  std::string_view help;
};
const std::vector<OtherVariable>& other_variables();

}  // namespace hourglass
