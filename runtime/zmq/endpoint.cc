// SPDX-License-Identifier: Apache-2.0
#include "runtime/zmq/endpoint.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "runtime/zmq/name_lookup.h"

namespace hourglass::zmq {
namespace {

constexpr std::size_t kHostBytesMax = 255;
constexpr std::string_view kForms = "expected host:port or [IPv6 address]:port, with a port from 0 to 65535";

Error refused(std::string_view text, std::string_view cause) {
  return {Errc::bad_config, "\"" + std::string(text.substr(0, 300)) + "\": " + std::string(cause)};
}

bool host_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

bool is_address(const std::string& host) {
  unsigned char buffer[sizeof(in6_addr)];
  return ::inet_pton(AF_INET, host.c_str(), buffer) == 1 || ::inet_pton(AF_INET6, host.c_str(), buffer) == 1;
}

}  // namespace

std::string Endpoint::text() const {
  const std::string shown = is_ipv6() ? "[" + host + "]" : host;
  return "tcp://" + shown + ":" + std::to_string(port);
}

bool Endpoint::is_name() const { return host != "*" && !is_address(host); }

Result<Endpoint> parse_endpoint(std::string_view text) {
  std::string_view rest = text;
  if (rest.starts_with("tcp://")) rest.remove_prefix(6);
  const auto colon = rest.rfind(':');
  if (colon == std::string_view::npos) return refused(text, kForms);
  Endpoint out;
  const std::string_view number = rest.substr(colon + 1);
  const auto [end, code] = std::from_chars(number.data(), number.data() + number.size(), out.port);
  if (number.empty() || code != std::errc() || end != number.data() + number.size()) return refused(text, kForms);
  std::string_view host = rest.substr(0, colon);
  if (host.size() > kHostBytesMax) return refused(text, "the host name is too long");
  if (host.starts_with('[') && host.ends_with(']')) {
    out.host = std::string(host.substr(1, host.size() - 2));
    if (!out.is_ipv6() || !is_address(out.host)) return refused(text, "not an IPv6 address between the brackets");
    return out;
  }
  if (host.empty() || (host != "*" && !std::ranges::all_of(host, host_character))) return refused(text, kForms);
  out.host = std::string(host);
  return out;
}

Result<std::vector<std::string>> listening_hosts(const Endpoint& endpoint, bool ipv6, Duration patience) {
  const std::string& host = endpoint.host;
  if (host == "*" || is_address(host) || ::if_nametoindex(host.c_str()) != 0) return std::vector{host};
  NameLookup lookup;
  lookup.begin(host, ipv6);
  auto resolved = lookup.take(patience);
  if (!resolved) return refused(endpoint.text(), "the name \"" + host + "\" does not resolve in time");
  if (!resolved->cause.empty()) {
    return refused(endpoint.text(), "\"" + host + "\" is no address, network interface or resolvable name (" + resolved->cause +
                                        "); use *, an address of this machine, or a name that resolves to one");
  }
  return std::move(resolved->addresses);
}

}  // namespace hourglass::zmq
