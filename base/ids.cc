// SPDX-License-Identifier: Apache-2.0
#include "base/ids.h"

#include <array>
#include <cstdio>

namespace hourglass {
namespace {
constexpr std::array<std::string_view, kRoles> kNames = {"data-loader", "conv-worker", "fc-worker", "aggregator", "monitor", "tree-node"};
}

std::string_view name_of(Role role) { return kNames[static_cast<std::size_t>(role) % kRoles]; }

std::optional<Role> role_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Role>(i);
  }
  return std::nullopt;
}

std::string to_string(ActorId id) {
  if (id == kAggregator) return "aggregator";
  char text[32];
  std::snprintf(text, sizeof text, "%s:%08x", std::string(name_of(id.role)).c_str(), id.index);
  return text;
}

}  // namespace hourglass
