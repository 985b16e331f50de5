// SPDX-License-Identifier: Apache-2.0
#include "services/top/http_get.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

namespace hourglass::top {
namespace {

constexpr std::size_t kAnswerMax = 32U << 20;

class Socket {
 public:
  explicit Socket(int file) : file_(file) {}
  ~Socket() {
    if (file_ >= 0) close(file_);
  }
  Socket(Socket&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  [[nodiscard]] int file() const { return file_; }

 private:
  int file_;
};

using Clock = std::chrono::steady_clock;

Error failed(Errc code, const Address& address, const std::string& cause) {
  return {code, "no monitor at " + address.host + ":" + std::to_string(address.port) + ": " + cause};
}

/// False where nothing happened until `end`.
bool ready(int file, short events, Clock::time_point end) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd poll_file{file, events, 0};
    const int found = poll(&poll_file, 1, static_cast<int>(std::max<decltype(left)>(left, 0)));
    if (found > 0) return true;
    if (found == 0 || errno != EINTR) return false;
  }
}

Result<Socket> connect_to(const Address& address, Clock::time_point end) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int code = getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &wanted, &found); code != 0)
    return failed(Errc::unreachable, address, gai_strerror(code));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  int cause = ETIMEDOUT;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    Socket socket(::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (socket.file() < 0) continue;
    if (connect(socket.file(), at->ai_addr, at->ai_addrlen) == 0) return socket;
    if (errno == EINPROGRESS && ready(socket.file(), POLLOUT, end)) {
      socklen_t size = sizeof cause;
      if (getsockopt(socket.file(), SOL_SOCKET, SO_ERROR, &cause, &size) == 0 && cause == 0) return socket;
    } else if (errno != EINPROGRESS) {
      cause = errno;
    }
  }
  return failed(cause == ETIMEDOUT ? Errc::timed_out : Errc::unreachable, address, std::strerror(cause));
}

}  // namespace

Result<Address> parse_address(const std::string& text) {
  const Error wrong{Errc::bad_config, "\"" + text + "\" is no address of a monitor: give one as http://127.0.0.1:8080"};
  std::string_view rest = text;
  if (rest.starts_with("https://")) return wrong;
  if (rest.starts_with("http://")) rest.remove_prefix(7);
  rest = rest.substr(0, rest.find('/'));
  if (rest.empty()) return wrong;
  Address out;
  std::size_t colon = rest.rfind(':');
  if (rest.starts_with('[')) {
    const std::size_t end = rest.find(']');
    if (end == std::string_view::npos || (end + 1 != rest.size() && rest[end + 1] != ':')) return wrong;
    out.host = rest.substr(1, end - 1);
    colon = end + 1 == rest.size() ? std::string_view::npos : end + 1;
  } else if (colon != 0 && !rest.substr(0, colon).empty()) {
    out.host = rest.substr(0, colon);
  }
  if (out.host.empty() || (!rest.starts_with('[') && out.host.find(':') != std::string::npos)) return wrong;
  if (colon == std::string_view::npos) return out;
  const std::string_view port = rest.substr(colon + 1);
  const auto [last, problem] = std::from_chars(port.data(), port.data() + port.size(), out.port);
  if (problem != std::errc() || last != port.data() + port.size() || out.port == 0) return wrong;
  return out;
}

Result<std::string> http_get(const Address& address, const std::string& path, Duration limit) {
  const auto end = Clock::now() + limit;
  const auto socket = connect_to(address, end);
  if (!socket.ok()) return socket.error();
  const int file = socket->file();
  const std::string host = address.host.find(':') == std::string::npos ? address.host : "[" + address.host + "]";
  const std::string request = "GET " + path + " HTTP/1.0\r\nHost: " + host + ":" + std::to_string(address.port) + "\r\n\r\n";
  for (std::size_t sent = 0; sent < request.size();) {
    if (!ready(file, POLLOUT, end)) return failed(Errc::timed_out, address, "it takes no request");
    const ssize_t count = send(file, request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
    if (count <= 0 && errno != EAGAIN && errno != EINTR) return failed(Errc::unreachable, address, std::strerror(errno));
    sent += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
  }
  std::string answer;
  char part[16384];
  for (;;) {
    if (!ready(file, POLLIN, end)) return failed(Errc::timed_out, address, "it does not answer");
    const ssize_t count = recv(file, part, sizeof part, 0);
    if (count == 0) break;
    if (count < 0) {
      if (errno == EAGAIN || errno == EINTR) continue;
      return failed(Errc::unreachable, address, std::strerror(errno));
    }
    answer.append(part, static_cast<std::size_t>(count));
    if (answer.size() > kAnswerMax) return failed(Errc::over_limit, address, "its answer does not end");
  }
  const std::size_t body = answer.find("\r\n\r\n");
  if (!answer.starts_with("HTTP/1.") || body == std::string::npos) return failed(Errc::malformed, address, "something else answers there");
  if (answer.substr(8, 5) != " 200 ") return failed(Errc::bad_data, address, "it says " + answer.substr(9, answer.find('\r') - 9));
  return answer.substr(body + 4);
}

}  // namespace hourglass::top
