// SPDX-License-Identifier: Apache-2.0
#include "tests/support/chaos_proxy.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "tests/runtime/raw_tcp.h"

namespace hourglass::testing_support {
namespace {

constexpr std::size_t kChunk = 1U << 16;
constexpr int kTurnMs = 20;

bool send_all(int to, std::span<const char> bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
  return true;
}

int connect_to(std::uint16_t port) {
  const int out = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  if (::connect(out, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return out;
  ::close(out);
  return -1;
}

}  // namespace

ChaosProxy::ChaosProxy(std::uint16_t target, std::uint64_t seed) : target_(target), seed_(seed) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  HG_CHECK(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 && ::listen(listener_, 64) == 0, "listen");
  socklen_t size = sizeof address;
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  server_ = std::thread([this] { serve(); });
}

ChaosProxy::~ChaosProxy() {
  ending_ = true;
  ::shutdown(listener_, SHUT_RDWR);
  server_.join();
  for (std::thread& relay : relays_) relay.join();
  ::close(listener_);
}

void ChaosProxy::serve() {
  while (!ending_) {
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    const std::uint64_t number = ++connections_;
    const std::lock_guard lock(mutex_);
    relays_.emplace_back([this, client, number] { relay(client, number); });
  }
}

void ChaosProxy::relay(int client, std::uint64_t number) {
  Random random(seed_ * 1'000'003 + number);
  const int target = connect_to(target_);
  const std::uint64_t cuts_before = cuts_wanted_;
  std::vector<char> chunk(kChunk);
  const auto pass = [&](int from, int to) {
    const ssize_t got = ::recv(from, chunk.data(), chunk.size(), 0);
    if (got <= 0) return false;
    const std::span<char> bytes(chunk.data(), static_cast<std::size_t>(got));
    if (const int delay = delay_ms_; delay > 0) std::this_thread::sleep_for(std::chrono::milliseconds(delay));
    if (const std::uint64_t every = flip_every_; every > 0) {
      for (char& byte : bytes) {
        if (random.below(every) != 0) continue;
        byte = static_cast<char>(byte ^ (1 << random.below(8)));
        ++flips_;
      }
    }
    bytes_ += bytes.size();
    if (!slice_) return send_all(to, bytes);
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t size = std::min<std::size_t>(1 + random.below(7), bytes.size() - at);
      if (!send_all(to, bytes.subspan(at, size))) return false;
      ++slices_;
      at += size;
    }
    return true;
  };
  bool open = target >= 0;
  while (open && !ending_) {
    if (cuts_wanted_ != cuts_before) {
      ++cuts_;
      break;
    }
    if (frozen_) {
      std::this_thread::sleep_for(std::chrono::milliseconds(kTurnMs));
      continue;
    }
    pollfd items[] = {{client, POLLIN, 0}, {target, POLLIN, 0}};
    if (::poll(items, 2, kTurnMs) <= 0) continue;
    if (items[0].revents != 0) open = pass(client, target);
    if (open && items[1].revents != 0) open = pass(target, client);
  }
  if (target >= 0) ::close(target);
  ::close(client);
}

}  // namespace hourglass::testing_support
