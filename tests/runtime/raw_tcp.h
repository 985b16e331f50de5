// SPDX-License-Identifier: Apache-2.0
// A TCP connection without any protocol, for tests that misbehave.
#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string_view>
#include <utility>

namespace hourglass {

inline sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

class RawTcp {
 public:
  explicit RawTcp(int descriptor) : descriptor_(descriptor) {}
  RawTcp(RawTcp&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  ~RawTcp() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  static RawTcp connect(std::uint16_t port) {
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(port);
    if (::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return RawTcp(descriptor);
    ::close(descriptor);
    return RawTcp(-1);
  }
  static RawTcp listen() {
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(0);
    ::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    ::listen(descriptor, 16);
    return RawTcp(descriptor);
  }
  [[nodiscard]] bool ok() const { return descriptor_ >= 0; }
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] std::uint16_t port() const {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    ::getsockname(descriptor_, reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.sin_port);
  }
  RawTcp accept() const { return RawTcp(::accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC)); }
  /// As much as the other side takes before it hangs up.
  void send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  /// Reads until the other side hangs up; false if it does not within the time.
  [[nodiscard]] bool closed_within(int milliseconds) const {
    char buffer[4096];
    for (;;) {
      pollfd item{descriptor_, POLLIN, 0};
      if (::poll(&item, 1, milliseconds) <= 0) return false;
      if (::recv(descriptor_, buffer, sizeof buffer, 0) <= 0) return true;
    }
  }

 private:
  int descriptor_;
};

}  // namespace hourglass
