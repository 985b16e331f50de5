// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "messages/push_verdict.h"

namespace hourglass {

/// received = sum of by_verdict + rolled_back, always; duplicates are counted apart.
struct Ledger {
  std::uint64_t received = 0;
  std::vector<std::uint64_t> by_verdict = std::vector<std::uint64_t>(static_cast<std::size_t>(kLastVerdict) + 1);
  std::uint64_t rolled_back = 0;  ///< applied, after the checkpoint that a later life went on from
  std::uint64_t duplicates = 0;
  std::uint64_t gaps = 0;           ///< pushes whose predecessor is missing; the sender repeats both
  std::uint64_t staleness_max = 0;  ///< versions of others between read and apply
  double staleness_sum = 0;
  std::vector<std::uint64_t> staleness_counts;  ///< applied pushes of staleness 0, 1, 2-3, 4-7, ...
  /// One more was applied.
  void note(std::uint64_t staleness);
  [[nodiscard]] std::uint64_t applied() const { return by_verdict[static_cast<std::size_t>(Verdict::applied)]; }
  [[nodiscard]] double staleness_mean() const { return applied() == 0 ? 0 : staleness_sum / static_cast<double>(applied()); }
};

}  // namespace hourglass
