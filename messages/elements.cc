// SPDX-License-Identifier: Apache-2.0
#include "messages/elements.h"

namespace hourglass {

bool is_clean_text(std::string_view text) {
  const auto* at = reinterpret_cast<const unsigned char*>(text.data());
  const unsigned char* const end = at + text.size();
  while (at < end) {
    const unsigned char lead = *at++;
    if (lead < 0x80) {
      if ((lead < 0x20 && lead != '\n' && lead != '\t') || lead == 0x7f) return false;
      continue;
    }
    const int more = lead >= 0xc2 && lead <= 0xdf ? 1 : lead >= 0xe0 && lead <= 0xef ? 2 : lead >= 0xf0 && lead <= 0xf4 ? 3 : 0;
    if (more == 0 || end - at < more) return false;
    // The second byte is what tells overlong forms, surrogates and values above U+10FFFF; U+0080..U+009F are control characters.
    const unsigned char low = lead == 0xc2 ? 0xa0 : lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (*at < low || *at > high) return false;
    for (int i = 1; i < more; ++i) {
      if (at[i] < 0x80 || at[i] > 0xbf) return false;
    }
    at += more;
  }
  return true;
}

}  // namespace hourglass
