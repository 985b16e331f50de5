// SPDX-License-Identifier: Apache-2.0
// The container of a checkpoint: named sections in one file, each with its checksum. Little-endian.
//
//   magic "HGLASSCK" | u32 format version | u32 sections | u64 bytes of the table
//   table, for each section: u16 length of its name, name, u64 bytes, u64 XXH3 of them
//   u64 XXH3 of everything before
//   the sections, in the table's order, without gaps
//
// A file that is cut anywhere, or has a flipped bit anywhere, is refused, naming what is wrong; so is one of a newer format.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace hourglass::params {

inline constexpr std::uint32_t kCheckpointFormat = 1;
inline constexpr std::size_t kSectionsMax = 4096;
inline constexpr std::size_t kSectionNameMax = 128;

struct Section {
  std::string name;  ///< unique, of [a-z0-9_.-]
  Bytes bytes;
};

Bytes write_checkpoint(const std::vector<Section>& sections);

/// Errors: malformed, naming the place; unsupported for a newer format, naming both numbers; over_limit.
Result<std::vector<Section>> read_checkpoint(std::span<const std::byte> file);

/// The first section alone, of a file of which only the beginning is at hand. Errors: as read_checkpoint(), about what is needed for it.
Result<Section> read_first_section(std::span<const std::byte> begin);

/// Null where there is none.
const Section* find_section(const std::vector<Section>& sections, std::string_view name);

}  // namespace hourglass::params
