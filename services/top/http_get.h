// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/time.h"

namespace hourglass::top {

struct Address {
  std::string host = "127.0.0.1";
  std::uint16_t port = 8080;
};

/// "http://host:port/", "host:port", "host" or ":port"; IPv6 addresses in brackets. Errors: bad_config.
Result<Address> parse_address(const std::string& text);

/// The body of a monitor's answer to GET `path`. Plain HTTP/1.0: the monitor speaks no TLS. Errors: unreachable, timed_out, over_limit,
/// malformed; bad_data for a status other than 200.
Result<std::string> http_get(const Address& address, const std::string& path, Duration limit);

}  // namespace hourglass::top
