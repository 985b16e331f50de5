// SPDX-License-Identifier: Apache-2.0
// Replicas of one version are equal bit for bit: a worker tells the checksum of its values, the aggregator compares.
#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.h"

namespace hourglass {

inline std::uint32_t digest_of(std::span<const float> values) { return checksum(std::as_bytes(values)); }

}  // namespace hourglass
