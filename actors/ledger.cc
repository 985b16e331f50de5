// SPDX-License-Identifier: Apache-2.0
#include "actors/ledger.h"

#include <algorithm>
#include <bit>

namespace hourglass {

void Ledger::note(std::uint64_t staleness) {
  staleness_max = std::max(staleness_max, staleness);
  staleness_sum += static_cast<double>(staleness);
  const auto bucket = static_cast<std::size_t>(std::bit_width(staleness));
  if (staleness_counts.size() <= bucket) staleness_counts.resize(bucket + 1);
  ++staleness_counts[bucket];
}

}  // namespace hourglass
