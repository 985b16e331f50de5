// SPDX-License-Identifier: Apache-2.0
#include "services/dashboard/http_server.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace hourglass::http {
namespace {
constexpr std::size_t kStreamBlockBytes = 8U << 10;
constexpr std::size_t kFileBlockBytes = 64U << 10;
constexpr int kBacklog = 128;
/// The kernel's part of what a stuck reader may cost.
constexpr int kSendBufferBytes = 128 << 10;

std::string_view header(MHD_Connection* connection, const char* name) {
  const char* value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

MHD_Result add_query(void* out, MHD_ValueKind, const char* key, const char* value) {
  auto& query = *static_cast<decltype(Request::query)*>(out);
  if (query.size() >= Server::kQueryMax) return MHD_NO;
  query.emplace(key, value == nullptr ? "" : value);
  return MHD_YES;
}

bool is_one_of_ours(std::string_view method) { return method == "GET" || method == "HEAD" || method == "POST"; }

/// False where the request is answered on sight and its connection closed: nobody needs to send us a body.
bool plain_read(MHD_Connection* connection, std::string_view method) {
  const std::string_view length = header(connection, "Content-Length");
  return is_one_of_ours(method) && (length.empty() || length == "0") && header(connection, "Transfer-Encoding").empty();
}

/// What libmicrohttpd holds of one event stream.
struct StreamReader {
  std::shared_ptr<EventStream> stream;
  MHD_Connection* connection;
};

ssize_t read_stream(void* cls, std::uint64_t, char* out, std::size_t bytes_max) {
  auto& reader = *static_cast<StreamReader*>(cls);
  std::size_t count = 0;
  switch (reader.stream->read({out, bytes_max}, count, [&] { MHD_suspend_connection(reader.connection); })) {
    case EventStream::Read::some: return static_cast<ssize_t>(count);
    case EventStream::Read::pause: return 0;
    case EventStream::Read::end: break;
  }
  return MHD_CONTENT_READER_END_OF_STREAM;
}

void free_stream(void* cls) {
  auto* reader = static_cast<StreamReader*>(cls);
  reader->stream->on_ready({});
  reader->stream->close();
  delete reader;
}

using SharedFile = std::shared_ptr<const FileBody>;

/// A file that ends early, or cannot be read, ends the connection: the reader sees that bytes are missing.
ssize_t read_file(void* cls, std::uint64_t at, char* out, std::size_t bytes_max) {
  const std::ptrdiff_t count = (*static_cast<SharedFile*>(cls))->read(at, {out, bytes_max});
  return count > 0 ? static_cast<ssize_t>(count) : MHD_CONTENT_READER_END_WITH_ERROR;
}

void free_file(void* cls) { delete static_cast<SharedFile*>(cls); }

std::atomic<std::uint32_t>& files_alive() {
  static std::atomic<std::uint32_t> count{0};
  return count;
}

MHD_Response* make_response(const Response& answer, MHD_Connection* connection, bool head) {
  if (answer.stream && !head) {
    answer.stream->on_ready([connection] { MHD_resume_connection(connection); });
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, kStreamBlockBytes, read_stream, new StreamReader{answer.stream, connection},
                                             free_stream);
  }
  if (answer.file) {
    return MHD_create_response_from_callback(answer.file->bytes(), kFileBlockBytes, read_file, new SharedFile(answer.file), free_file);
  }
  const std::string_view body = answer.fixed_body.empty() ? std::string_view(answer.body) : answer.fixed_body;
  return MHD_create_response_from_buffer(body.size(), const_cast<char*>(body.data()),
                                         answer.fixed_body.empty() ? MHD_RESPMEM_MUST_COPY : MHD_RESPMEM_PERSISTENT);
}

MHD_Result handle(void* cls, MHD_Connection* connection, const char* url, const char* method, const char*, const char*,
                  std::size_t* upload_bytes, void** seen) {
  static char mark;
  const bool early = !plain_read(connection, method);
  if (*seen == nullptr && !early) {  // answered on the second call, when the request is whole: then the connection may be used again
    *seen = &mark;
    return MHD_YES;
  }
  *upload_bytes = 0;
  Request request;
  request.method = method;
  request.path = url;
  request.host = header(connection, "Host");
  request.origin = header(connection, "Origin");
  request.authorization = header(connection, "Authorization");
  request.if_none_match = header(connection, "If-None-Match");
  request.accept_encoding = header(connection, "Accept-Encoding");
  MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, add_query, &request.query);
  request.has_body = early && is_one_of_ours(request.method);
  const Response answer = static_cast<Server*>(cls)->answer(request);
  MHD_Response* response = make_response(answer, connection, request.method == "HEAD");
  if (response == nullptr) return MHD_NO;
  if (!answer.content_type.empty()) MHD_add_response_header(response, "Content-Type", answer.content_type.c_str());
  for (const auto& [name, value] : answer.headers) MHD_add_response_header(response, name.c_str(), value.c_str());
  const MHD_Result queued = MHD_queue_response(connection, answer.status, response);
  MHD_destroy_response(response);
  return queued;
}

bool is_loopback(const sockaddr* address) {
  if (address->sa_family == AF_INET) {
    return (ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr) >> 24) == 127;
  }
  return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr) != 0;
}

struct Listener {
  int socket = -1;
  std::uint16_t port = 0;
  bool loopback = false;
  bool ipv6 = false;
};

Result<Listener> listen_on(const ServerOptions& options) {
  const std::string host = options.bind == "localhost" ? "127.0.0.1" : options.bind;
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), std::to_string(options.port).c_str(), &hints, &found) != 0 || found == nullptr) {
    return Error{Errc::bad_config, "not a numeric address: '" + options.bind + "'; use 127.0.0.1, 0.0.0.0 or ::"};
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> address(found, freeaddrinfo);
  Listener out;
  out.loopback = is_loopback(address->ai_addr);
  out.ipv6 = address->ai_family == AF_INET6;
  out.socket = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int on = 1, off = 0, send_buffer = kSendBufferBytes;
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  const bool listening =
      out.socket >= 0 && setsockopt(out.socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
      setsockopt(out.socket, SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof send_buffer) == 0 &&  // accepted sockets inherit it
      (!out.ipv6 || setsockopt(out.socket, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) == 0) &&
      bind(out.socket, address->ai_addr, address->ai_addrlen) == 0 && ::listen(out.socket, kBacklog) == 0 &&
      getsockname(out.socket, reinterpret_cast<sockaddr*>(&bound), &size) == 0;
  if (!listening) {
    const std::string cause = std::strerror(errno);
    if (out.socket >= 0) close(out.socket);
    return Error{Errc::io, "cannot listen on " + options.bind + " port " + std::to_string(options.port) + ": " + cause};
  }
  out.port = ntohs(out.ipv6 ? reinterpret_cast<sockaddr_in6&>(bound).sin6_port : reinterpret_cast<sockaddr_in&>(bound).sin_port);
  return out;
}

/// Signals are for the main thread.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};
}  // namespace

FileBody::FileBody(int file, std::uint64_t bytes) : file_(file), bytes_(bytes) { ++files_alive(); }

FileBody::~FileBody() {
  close(file_);
  --files_alive();
}

std::ptrdiff_t FileBody::read(std::uint64_t at, std::span<char> out) const {
  const std::uint64_t rest = bytes_ - std::min(at, bytes_);
  return pread(file_, out.data(), static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), rest)), static_cast<off_t>(at));
}

std::uint32_t FileBody::alive() { return files_alive(); }

Result<std::unique_ptr<Server>> Server::listen(const ServerOptions& options) {
  auto listener = listen_on(options);
  if (!listener.ok()) return listener.error();
  std::unique_ptr<Server> server(new Server(options));
  server->socket_ = listener->socket;
  server->port_ = listener->port;
  server->loopback_ = listener->loopback;
  server->ipv6_ = listener->ipv6;
  return server;
}

Status Server::serve(Handler handler) {
  HG_CHECK(daemon_ == nullptr, "served once");
  handler_ = std::move(handler);
  const SignalsBlocked blocked;
  unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
  if (ipv6_) flags |= MHD_USE_IPv6;
  daemon_ = MHD_start_daemon(flags, port_, nullptr, nullptr, handle, this,              //
                             MHD_OPTION_LISTEN_SOCKET, socket_,                         //
                             MHD_OPTION_CONNECTION_LIMIT, options_.connections_max,     //
                             MHD_OPTION_CONNECTION_TIMEOUT, options_.idle_seconds_max,  //
                             MHD_OPTION_CONNECTION_MEMORY_LIMIT, kConnectionBytes, MHD_OPTION_END);
  if (daemon_ == nullptr) return Error{Errc::io, "cannot start the HTTP server on port " + std::to_string(port_)};
  socket_ = -1;
  return {};
}

Server::~Server() {
  if (daemon_ != nullptr) MHD_stop_daemon(daemon_);
  if (socket_ >= 0) close(socket_);
}

Response Server::answer(const Request& request) {
  ++requests_;
  return handler_(request);
}

}  // namespace hourglass::http
