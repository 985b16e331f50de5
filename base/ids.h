// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hourglass {

enum class Role : std::uint8_t { data_loader = 0, conv_worker = 1, fc_worker = 2, aggregator = 3, monitor = 4, tree_node = 5 };
inline constexpr Role kLastRole = Role::tree_node;
inline constexpr std::uint8_t kRoles = 6;

std::string_view name_of(Role role);  ///< "conv-worker"
std::optional<Role> role_from_name(std::string_view name);

/// One process of one run. The index is drawn anew at every process start (the aggregator's alone is 0), so an id names an
/// incarnation: a process that was killed and restarted is a new actor, and messages of its earlier life name nobody.
/// The small number that people see ("conv-worker 2") is given by the aggregator and lives in the roster.
struct ActorId {
  Role role = Role::aggregator;
  std::uint32_t index = 0;
  auto operator<=>(const ActorId&) const = default;
};

inline constexpr ActorId kAggregator{Role::aggregator, 0};

std::string to_string(ActorId id);  ///< "conv-worker:1a2b3c4d"

}  // namespace hourglass
