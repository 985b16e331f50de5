// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace hourglass::zmq {

struct Endpoint {
  std::string host;  ///< a name, an address (IPv6 without its brackets), an interface, or *
  std::uint16_t port = 0;

  [[nodiscard]] bool is_ipv6() const { return host.find(':') != std::string::npos; }
  [[nodiscard]] bool is_name() const;      ///< to be looked up, or an interface
  [[nodiscard]] std::string text() const;  ///< "tcp://host:port", with brackets where they belong
};

/// "tcp://host:port" or "host:port". Anything else that ZeroMQ would take (other transports, source addresses) is refused: endpoints
/// come from the network too. Errors: bad_config.
Result<Endpoint> parse_endpoint(std::string_view text);

/// The addresses to try for listening on a host, best first: the host itself where ZeroMQ understands it (address, interface, *), else
/// what its name resolves to. A resolver that takes longer than `patience` is given up. Errors: bad_config.
Result<std::vector<std::string>> listening_hosts(const Endpoint& endpoint, bool ipv6, Duration patience);

}  // namespace hourglass::zmq
