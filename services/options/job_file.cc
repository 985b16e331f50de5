// SPDX-License-Identifier: Apache-2.0
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "services/options/setting_kinds.h"
#include "services/options/source.h"

namespace hourglass {
namespace {

constexpr std::size_t kJobFileBytesMax = 1U << 20;

std::string place(const std::string& file, const toml::source_position& at) {
  return file + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
}

std::vector<std::string> sections() {
  std::vector<std::string> out;
  for (const auto& row : setting_table()) {
    if (out.empty() || out.back() != row.section()) out.emplace_back(row.section());
  }
  return out;
}

RawValue raw_value(const toml::node& node) {
  using Type = RawValue::Type;
  if (const auto* text = node.as_string()) return {Type::toml_string, text->get()};
  if (const auto* number = node.as_integer()) return {Type::toml_integer, std::to_string(number->get())};
  if (const auto* number = node.as_floating_point()) return {Type::toml_real, kinds::shortest(number->get())};
  if (const auto* flag = node.as_boolean()) return {Type::toml_flag, flag->get() ? "true" : "false"};
  if (node.is_array()) return {Type::toml_other, "a list"};
  if (node.is_table()) return {Type::toml_other, "a table"};
  return {Type::toml_other, "a date or time"};
}

void read_section(const std::string& section, const toml::table& table, const std::string& file, Source& out) {
  for (const auto& [key, node] : table) {
    const std::string full = section + "." + std::string(key.str());
    const Setting* setting = find_setting(full);
    if (setting == nullptr) {
      out.problems.push_back({ExitCode::config, place(file, key.source().begin) + ": unknown key " + full + did_you_mean_key(full)});
      continue;
    }
    out.assignments.push_back({setting, raw_value(node), place(file, node.source().begin)});
  }
}

}  // namespace

Source parse_job_text(std::string_view text, const std::string& name) {
  Source out;
  const toml::parse_result parsed = toml::parse(text, name);
  if (!parsed) {
    const auto& error = parsed.error();
    out.problems.push_back({ExitCode::config, place(name, error.source().begin) + ": not valid TOML: " + std::string(error.description())});
    return out;
  }
  const auto known = sections();
  for (const auto& [key, node] : parsed.table()) {
    const std::string section(key.str());
    const std::string where = place(name, key.source().begin);
    const toml::table* table = node.as_table();
    if (std::find(known.begin(), known.end(), section) != known.end()) {
      if (table != nullptr) {
        read_section(section, *table, name, out);
      } else {
        out.problems.push_back({ExitCode::config, where + ": " + section + " must be a section, [" + section + "]"});
      }
    } else if (table != nullptr) {
      out.problems.push_back({ExitCode::config, where + ": unknown section [" + section + "]" + did_you_mean(section, known)});
    } else {
      out.problems.push_back({ExitCode::config, where + ": unknown key " + section + did_you_mean_key(section)});
    }
  }
  return out;
}

Source read_job_file(const std::string& path) {
  Source out;
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(kJobFileBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (!file.eof() && text.size() <= kJobFileBytesMax) {
    out.problems.push_back({ExitCode::missing_data, "job file " + path + ": " + std::strerror(errno != 0 ? errno : EIO)});
  } else if (text.size() > kJobFileBytesMax) {
    out.problems.push_back({ExitCode::config, "job file " + path + ": more than 1 MiB"});
  } else {
    out = parse_job_text(text, path);
  }
  return out;
}

}  // namespace hourglass
