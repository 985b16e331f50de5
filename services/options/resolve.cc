// SPDX-License-Identifier: Apache-2.0
#include "services/options/resolve.h"

#include <algorithm>

#include "services/options/setting_kinds.h"

namespace hourglass {
namespace {

std::size_t row_of(std::string_view key) {
  const auto& table = setting_table();
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i].key == key) return i;
  }
  check_failed(__FILE__, __LINE__, "key is in the table", key);
}

std::string shown(const RawValue& raw) {
  const bool quoted = raw.type == RawValue::Type::text || raw.type == RawValue::Type::toml_string;
  std::string text = raw.text.substr(0, 200) + (raw.text.size() > 200 ? "..." : "");
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, '?');
  return quoted ? kinds::toml_quoted(text) : text;
}

RawValue as_text(const std::string& toml) {
  if (toml.size() >= 2 && toml.front() == '"') return {RawValue::Type::text, toml.substr(1, toml.size() - 2)};
  return {RawValue::Type::text, toml};
}

}  // namespace

bool Resolved::is_default(std::string_view key) const { return origin(key) == "default"; }
const std::string& Resolved::origin(std::string_view key) const { return origins[row_of(key)]; }

void Resolved::reject(std::string_view key, const std::string& cause) {
  const std::size_t row = row_of(key);
  problems.push_back(
      {ExitCode::config, origins[row] + ": " + std::string(key) + " = " + setting_table()[row].show(settings) + ": " + cause});
}

Resolved resolve(const std::vector<Source>& sources) {
  Resolved out;
  out.origins.assign(setting_table().size(), "default");
  for (const auto& source : sources) {
    out.problems.insert(out.problems.end(), source.problems.begin(), source.problems.end());
    for (const auto& [setting, value, origin] : source.assignments) {
      // A wrong value is a problem even where a stronger source would have replaced it: nobody wants it there.
      if (const Status status = setting->assign(out.settings, value); !status.ok()) {
        out.problems.push_back(
            {ExitCode::config, origin + ": " + std::string(setting->key) + " = " + shown(value) + ": " + status.error().text});
        continue;
      }
      out.origins[row_of(setting->key)] = origin;
    }
  }
  return out;
}

ExitCode worst(const std::vector<Problem>& problems) {
  for (const ExitCode code : {ExitCode::usage, ExitCode::missing_data, ExitCode::config}) {
    if (std::any_of(problems.begin(), problems.end(), [code](const Problem& each) { return each.code == code; })) return code;
  }
  return problems.empty() ? ExitCode::ok : problems.front().code;
}

std::string print_config(const Resolved& resolved) {
  std::string out;
  std::string_view section;
  const auto& table = setting_table();
  for (std::size_t i = 0; i < table.size(); ++i) {
    const Setting& row = table[i];
    if (row.section() != section) {
      section = row.section();
      out += (out.empty() ? "[" : "\n[") + std::string(section) + "]\n";
    }
    const std::string value = row.show(resolved.settings);
    Settings scratch;
    const bool settable = row.assign(scratch, as_text(value)).ok();  // an unset address has no value that could be read back
    const bool hidden = row.secret && resolved.origins[i] != "default";
    std::string line = (settable && !hidden ? "" : "# ") + std::string(row.name()) + (hidden ? ": a secret" : " = " + value);
    line.resize(std::max<std::size_t>(line.size(), 40), ' ');
    out += line + "  # " + resolved.origins[i] + "\n";
  }
  return out;
}

}  // namespace hourglass
