// SPDX-License-Identifier: Apache-2.0
#include "runtime/zmq/name_lookup.h"

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>
#include <thread>

namespace hourglass::zmq {
namespace {

NameLookup::Answer resolve(const std::string& host, bool ipv6) {
  addrinfo hints{};
  hints.ai_family = ipv6 ? AF_UNSPEC : AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  NameLookup::Answer out;
  if (const int code = ::getaddrinfo(host.c_str(), nullptr, &hints, &list); code != 0) {
    out.cause = ::gai_strerror(code);
    return out;
  }
  for (const addrinfo* at = list; at; at = at->ai_next) {
    char text[NI_MAXHOST];
    if (::getnameinfo(at->ai_addr, at->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0) continue;
    if (std::ranges::find(out.addresses, text) == out.addresses.end()) out.addresses.emplace_back(text);
  }
  ::freeaddrinfo(list);
  if (out.addresses.empty()) out.cause = "no address";
  return out;
}

}  // namespace

const std::string& NameLookup::Answer::after(const std::string& tried) const {
  const auto at = std::ranges::find(addresses, tried);
  return at == addresses.end() || at + 1 == addresses.end() ? addresses.front() : *(at + 1);
}

void NameLookup::begin(const std::string& host, bool ipv6) {
  // A thread that waits for a resolver must not keep the process: it owns all that it touches.
  auto promise = std::make_shared<std::promise<Answer>>();
  answer_ = promise->get_future();
  std::thread([promise, host, ipv6] { promise->set_value(resolve(host, ipv6)); }).detach();
}

std::optional<NameLookup::Answer> NameLookup::take(Duration patience) {
  if (!answer_.valid() || answer_.wait_for(patience) != std::future_status::ready) return std::nullopt;
  return answer_.get();
}

}  // namespace hourglass::zmq
