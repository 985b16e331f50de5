// SPDX-License-Identifier: Apache-2.0
// The page's files, built from web/ and embedded in the binary.
#pragma once

#include <span>
#include <string_view>

namespace hourglass {

struct Asset {
  std::string_view path;  ///< "/app.js"
  std::string_view content_type;
  std::string_view plain, gzip;  ///< the same bytes, and compressed
};

std::span<const Asset> assets();
/// The page's frame, with a place for the table that is shown when scripts are off.
std::string_view page_template();

}  // namespace hourglass
