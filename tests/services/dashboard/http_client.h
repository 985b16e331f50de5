// SPDX-License-Identifier: Apache-2.0
// A client of bare sockets, so that a test sends exactly the bytes it means to send and sees exactly those that come.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace hourglass {

struct Answer {
  int status = 0;
  std::string head, body;
  /// The header's value, or empty.
  [[nodiscard]] std::string header(const std::string& name) const {
    const std::size_t at = head.find("\r\n" + name + ": ");
    if (at == std::string::npos) return "";
    const std::size_t begin = at + name.size() + 4;
    return head.substr(begin, head.find("\r\n", begin) - begin);
  }
};

class HttpClient {
 public:
  explicit HttpClient(std::uint16_t port, int receive_buffer = 0) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (receive_buffer > 0) setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
  }
  ~HttpClient() { ::close(socket_); }
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  [[nodiscard]] bool connected() const { return connected_; }
  [[nodiscard]] bool closed() const { return closed_; }  ///< the server has ended the connection
  void send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;  // the server has closed: the answer, if any, is what the test looks at
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  /// Reads until `end` has come `times` times, the peer closes, or nothing comes for `patience_ms`.
  std::string read_until(std::string_view end, int times = 1, int patience_ms = 5000) {
    std::size_t from = 0;
    int seen = 0;
    for (;;) {
      for (std::size_t at; (at = buffer_.find(end, from)) != std::string::npos;) {
        from = at + end.size();
        if (++seen == times) return take(from);
      }
      if (!fill(patience_ms)) return take(buffer_.size());
    }
  }
  /// One whole answer with a Content-Length; the connection may be used again.
  Answer answer(bool has_body = true) {
    Answer out;
    out.head = read_until("\r\n\r\n");
    if (out.head.size() > 12) out.status = std::atoi(out.head.c_str() + 9);
    const std::size_t length = has_body ? static_cast<std::size_t>(std::atoll(("0" + out.header("Content-Length")).c_str())) : 0;
    while (buffer_.size() < length && fill(5000)) {
    }
    out.body = take(std::min(length, buffer_.size()));
    return out;
  }
  Answer get(const std::string& path, const std::string& headers = "", const std::string& host = "localhost") {
    send("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n" + headers + "\r\n");
    return answer();
  }
  /// Everything until the peer closes or is silent.
  std::string rest(int patience_ms = 5000) {
    while (fill(patience_ms)) {
    }
    return take(buffer_.size());
  }

 private:
  bool fill(int patience_ms) {
    pollfd ready{socket_, POLLIN, 0};
    if (poll(&ready, 1, patience_ms) <= 0) return false;
    char bytes[16384];
    const ssize_t count = recv(socket_, bytes, sizeof bytes, 0);
    closed_ = count <= 0;
    if (closed_) return false;
    buffer_.append(bytes, static_cast<std::size_t>(count));
    return true;
  }
  std::string take(std::size_t count) {
    std::string out = buffer_.substr(0, count);
    buffer_.erase(0, count);
    return out;
  }

  int socket_;
  bool connected_ = false, closed_ = false;
  std::string buffer_;
};

/// The payload of a chunked body, as far as it has come.
inline std::string unchunk(std::string_view chunked) {
  std::string out;
  while (!chunked.empty()) {
    const std::size_t line = chunked.find("\r\n");
    if (line == std::string_view::npos) break;
    const auto size = static_cast<std::size_t>(std::strtoull(std::string(chunked.substr(0, line)).c_str(), nullptr, 16));
    if (size == 0) break;
    chunked.remove_prefix(line + 2);
    out.append(chunked.substr(0, size));
    chunked.remove_prefix(std::min(chunked.size(), size + 2));
  }
  return out;
}

}  // namespace hourglass
