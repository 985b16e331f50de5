// SPDX-License-Identifier: Apache-2.0
// CRC-32C (Castagnoli, as in RFC 3720): the checksum of event files, of which there are a few kilobytes a second.
#pragma once

#include <cstdint>
#include <string_view>

namespace hourglass {

std::uint32_t crc32c(std::string_view bytes);

}  // namespace hourglass
