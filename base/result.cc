// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

namespace hourglass {

std::string_view name_of(Errc code) {
  switch (code) {
    case Errc::malformed: return "malformed";
    case Errc::unsupported: return "unsupported";
    case Errc::over_limit: return "over_limit";
    case Errc::unreachable: return "unreachable";
    case Errc::timed_out: return "timed_out";
    case Errc::too_stale: return "too_stale";
    case Errc::bad_config: return "bad_config";
    case Errc::bad_data: return "bad_data";
    case Errc::io: return "io";
  }
  return "unknown";
}

}  // namespace hourglass
