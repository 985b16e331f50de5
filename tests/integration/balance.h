// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include <nlohmann/json.hpp>

namespace hourglass::integration {

/// Of a result.json: each push that was received was applied, rejected for a reason, or rolled back.
inline void expect_balance(const nlohmann::json& result) {
  const nlohmann::json& ledger = result["ledger"];
  std::uint64_t settled = ledger["applied"].get<std::uint64_t>() + ledger["rolled_back"].get<std::uint64_t>();
  for (const auto& [reason, count] : ledger["rejected"].items()) settled += count.get<std::uint64_t>();
  EXPECT_EQ(ledger["received"].get<std::uint64_t>(), settled) << ledger.dump();
}

}  // namespace hourglass::integration
