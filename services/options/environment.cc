// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <unistd.h>

#include "services/options/source.h"

namespace hourglass {
namespace {

constexpr std::string_view kPrefix = "HOURGLASS_";

/// Orchestrators describe each service by variables: HOURGLASS_AGGREGATOR_SERVICE_HOST, ..._PORT=tcp://..., ..._PORT_7070_TCP_ADDR.
bool is_service_link(std::string_view name, std::string_view value) {
  const bool service = name.find("_SERVICE_HOST") != std::string_view::npos || name.find("_SERVICE_PORT") != std::string_view::npos;
  const bool port = name.find("_PORT") != std::string_view::npos;
  const bool transport = name.find("_TCP") != std::string_view::npos || name.find("_UDP") != std::string_view::npos;
  return service || (port && (transport || value.substr(0, 6) == "tcp://" || value.substr(0, 6) == "udp://"));
}

std::vector<std::string> known_names() {
  std::vector<std::string> names;
  for (const auto& row : setting_table()) names.push_back(row.environment_name());
  for (const auto& row : other_variables()) names.emplace_back(row.name);
  return names;
}

}  // namespace

std::vector<std::string> process_environment() {
  std::vector<std::string> out;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) out.emplace_back(*entry);
  return out;
}

Source read_environment(const std::vector<std::string>& variables) {
  Source out;
  for (const auto& variable : variables) {
    const std::size_t equals = variable.find('=');
    if (equals == std::string::npos || variable.compare(0, kPrefix.size(), kPrefix) != 0) continue;
    const std::string name = variable.substr(0, equals);
    const std::string value = variable.substr(equals + 1);
    const auto& table = setting_table();
    const auto row = std::find_if(table.begin(), table.end(), [&](const Setting& each) { return each.environment_name() == name; });
    if (row != table.end()) {
      out.assignments.push_back({&*row, {RawValue::Type::text, value}, "environment " + name});
      continue;
    }
    const auto& others = other_variables();
    const bool other = std::any_of(others.begin(), others.end(), [&](const OtherVariable& each) { return each.name == name; });
    if (other || is_service_link(name, value)) continue;
    out.problems.push_back({ExitCode::config, "environment " + name + ": unknown variable" + did_you_mean(name, known_names())});
  }
  return out;
}

}  // namespace hourglass
