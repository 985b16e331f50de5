// SPDX-License-Identifier: Apache-2.0
// HTTP for one purpose: few small answers and many event streams from one thread. libmicrohttpd ends in http_server.cc.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "services/dashboard/event_stream.h"

struct MHD_Daemon;

namespace hourglass::http {

struct Request {
  std::string_view method, path;
  std::string_view host, origin, authorization, if_none_match, accept_encoding;  ///< empty where the header is missing
  std::map<std::string, std::string, std::less<>> query;                         ///< at most kQueryMax
  bool has_body = false;  ///< a body was announced; it has not been read and the connection closes after the answer
};

/// A file that is sent in blocks, as it was when it was opened. Closed with the last of those who hold it.
class FileBody {
 public:
  /// Takes over the descriptor of a regular file of so many bytes.
  FileBody(int file, std::uint64_t bytes);
  ~FileBody();
  FileBody(const FileBody&) = delete;
  FileBody& operator=(const FileBody&) = delete;

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// Below 0 where it cannot be read; 0 beyond its end.
  [[nodiscard]] std::ptrdiff_t read(std::uint64_t at, std::span<char> out) const;
  /// How many there are in this process.
  static std::uint32_t alive();

 private:
  int file_;
  std::uint64_t bytes_;
};

struct Response {
  unsigned status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  std::string_view fixed_body;           ///< used instead of `body` where it is not empty; lives as long as the process
  std::shared_ptr<EventStream> stream;   ///< instead of both: text/event-stream until it closes
  std::shared_ptr<const FileBody> file;  ///< likewise: its bytes
  std::vector<std::pair<std::string, std::string>> headers;
};

/// Called from the server's thread, for any method (the body of a HEAD's answer is left out by the server).
using Handler = std::function<Response(const Request&)>;

struct ServerOptions {
  std::string bind = "127.0.0.1";  ///< numeric address, or "localhost"
  std::uint16_t port = 0;          ///< 0: any free one
  unsigned connections_max = 800;
  unsigned idle_seconds_max = 60;  ///< without a byte in either direction, a connection that has something to read or write is closed
};

class Server {
 public:
  static constexpr std::size_t kQueryMax = 8;
  static constexpr std::size_t kConnectionBytes = 16U << 10;  ///< request line and headers; more is refused

  /// Takes the port. Errors: bad_config (no such address), io (port taken, no permission).
  static Result<std::unique_ptr<Server>> listen(const ServerOptions& options);
  /// Answers from a thread of its own, until destroyed. Errors: io.
  Status serve(Handler handler);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] bool loopback() const { return loopback_; }
  [[nodiscard]] std::uint64_t requests() const { return requests_; }

  /// For http_server.cc's callbacks.
  Response answer(const Request& request);

 private:
  explicit Server(const ServerOptions& options) : options_(options) {}

  ServerOptions options_;
  Handler handler_;
  int socket_ = -1;  ///< until serve() hands it over
  bool ipv6_ = false;
  MHD_Daemon* daemon_ = nullptr;
  std::uint16_t port_ = 0;
  bool loopback_ = false;
  std::atomic<std::uint64_t> requests_{0};
};

}  // namespace hourglass::http
