// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"

#include <xxhash.h>

namespace hourglass {

std::uint64_t fingerprint(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::uint32_t checksum(std::span<const std::byte> bytes) { return static_cast<std::uint32_t>(fingerprint(bytes)); }

}  // namespace hourglass
