// SPDX-License-Identifier: Apache-2.0
#include "services/options/source.h"

#include "base/spec.h"

namespace hourglass {

std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& candidates) {
  const std::string nearest = nearest_name(wrong, candidates);
  return nearest.empty() ? "" : "; did you mean " + nearest + "?";
}

std::string did_you_mean_key(std::string_view wrong) {
  const std::string_view name = wrong.substr(wrong.rfind('.') + 1);
  for (const auto& row : setting_table()) {
    if (row.name() == name) return "; did you mean " + std::string(row.key) + "?";
  }
  return did_you_mean(wrong, setting_keys());
}

Source parse_set(const std::vector<std::string>& pairs) {
  Source out;
  for (const auto& pair : pairs) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) {
      out.problems.push_back({ExitCode::usage, "flag --set: '" + pair + "' is not key=value, as in --set train.batch=64"});
      continue;
    }
    const std::string key = pair.substr(0, equals);
    const Setting* setting = find_setting(key);
    if (setting == nullptr) {
      out.problems.push_back({ExitCode::usage, "flag --set: unknown key " + key + did_you_mean_key(key)});
      continue;
    }
    out.assignments.push_back({setting, {RawValue::Type::text, pair.substr(equals + 1)}, "flag --set"});
  }
  return out;
}

}  // namespace hourglass
