// SPDX-License-Identifier: Apache-2.0
#include "services/dashboard/assets.h"

#include <array>

// Defined in assets.S.in.
#define HOURGLASS_ASSET(name) extern "C" const char hg_asset_##name##_begin[], hg_asset_##name##_end[]
HOURGLASS_ASSET(page);
HOURGLASS_ASSET(script);
HOURGLASS_ASSET(script_gz);
HOURGLASS_ASSET(style);
HOURGLASS_ASSET(style_gz);
HOURGLASS_ASSET(icon);
HOURGLASS_ASSET(icon_gz);
HOURGLASS_ASSET(licenses);
HOURGLASS_ASSET(licenses_gz);
#undef HOURGLASS_ASSET

namespace hourglass {
namespace {
std::string_view between(const char* begin, const char* end) { return {begin, static_cast<std::size_t>(end - begin)}; }
}  // namespace

#define HOURGLASS_BYTES(name) between(hg_asset_##name##_begin, hg_asset_##name##_end)
std::span<const Asset> assets() {
  static const std::array<Asset, 4> kAssets = {{
      {"/app.js", "text/javascript; charset=utf-8", HOURGLASS_BYTES(script), HOURGLASS_BYTES(script_gz)},
      {"/app.css", "text/css; charset=utf-8", HOURGLASS_BYTES(style), HOURGLASS_BYTES(style_gz)},
      {"/icon.svg", "image/svg+xml", HOURGLASS_BYTES(icon), HOURGLASS_BYTES(icon_gz)},
      {"/licenses.txt", "text/plain; charset=utf-8", HOURGLASS_BYTES(licenses), HOURGLASS_BYTES(licenses_gz)},
  }};
  return kAssets;
}

std::string_view page_template() { return HOURGLASS_BYTES(page); }
#undef HOURGLASS_BYTES

}  // namespace hourglass
