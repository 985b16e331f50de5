// SPDX-License-Identifier: Apache-2.0
#include "runtime/zmq/transport.h"

#include <sys/resource.h>

#include <cerrno>

namespace hourglass::zmq {
namespace {

constexpr std::uint64_t kBoundThread = 1, kConnectingThread = 2;
constexpr Duration kResolvePatience = std::chrono::seconds(4);

void set_common(::zmq::socket_t& socket, const TransportSettings& settings, bool ipv6) {
  namespace option = ::zmq::sockopt;
  socket.set(option::sndhwm, kHighWaterMark);
  socket.set(option::rcvhwm, kHighWaterMark);
  socket.set(option::maxmsgsize, static_cast<std::int64_t>(settings.message_bytes_max));
  socket.set(option::linger, static_cast<int>(settings.linger.count()));
  socket.set(option::handshake_ivl, 5000);
  socket.set(option::tcp_keepalive, 1);
  socket.set(option::tcp_keepalive_idle, 3);
  socket.set(option::tcp_keepalive_intvl, 1);
  socket.set(option::tcp_keepalive_cnt, 3);
  socket.set(option::tcp_maxrt, 15000);
  socket.set(option::ipv6, ipv6);
}

Error bind_error(const Endpoint& endpoint, const std::string& host, int code) {
  const std::string port = std::to_string(endpoint.port);
  const std::string where = "cannot listen on " + endpoint.text();
  switch (code) {
    case EADDRINUSE:
      return {Errc::io, where + ": port " + port + " is in use on this machine; \"ss -ltnp 'sport = :" + port +
                            "'\" names its owner; choose another port, or 0 for any free one"};
    case EADDRNOTAVAIL: return {Errc::io, where + ": " + host + " is not an address of this machine; use * to listen on all of them"};
    case EACCES: return {Errc::io, where + ": port " + port + " needs privileges; choose one above 1023"};
    case ENODEV:
    case EINVAL:
      return {Errc::bad_config,
              where + ": " + host + " is no address or network interface of this machine; use * to listen on all of them"};
    default: return {Errc::io, where + ": " + ::zmq_strerror(code)};
  }
}

}  // namespace

::zmq::context_t make_context(int sockets_max) {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
    files.rlim_cur = files.rlim_max;
    (void)::setrlimit(RLIMIT_NOFILE, &files);  // without it there is room for fewer peers
  }
  ::zmq::context_t context;
  context.set(::zmq::ctxopt::io_threads, kIoThreads);
  context.set(::zmq::ctxopt::max_sockets, sockets_max);
  return context;
}

::zmq::socket_t make_router(::zmq::context_t& context, ActorId self, const TransportSettings& settings) {
  ::zmq::socket_t socket(context, ::zmq::socket_type::router);
  set_common(socket, settings, settings.ipv6);
  socket.set(::zmq::sockopt::routing_id, encode({Line::messages, self}));
  socket.set(::zmq::sockopt::router_mandatory, true);
  socket.set(::zmq::sockopt::router_handover, true);
  socket.set(::zmq::sockopt::affinity, kBoundThread);
  return socket;
}

::zmq::socket_t make_dealer(::zmq::context_t& context, const Identity& self, const TransportSettings& settings) {
  ::zmq::socket_t socket(context, ::zmq::socket_type::dealer);
  set_common(socket, settings, settings.ipv6);
  socket.set(::zmq::sockopt::routing_id, encode(self));
  socket.set(::zmq::sockopt::immediate, true);
  socket.set(::zmq::sockopt::connect_timeout, 3000);
  socket.set(::zmq::sockopt::reconnect_ivl, 100);
  socket.set(::zmq::sockopt::reconnect_ivl_max, 5000);
  socket.set(::zmq::sockopt::affinity, kConnectingThread);
  return socket;
}

Result<std::string> bind(::zmq::socket_t& socket, const Endpoint& endpoint, bool ipv6) {
  auto hosts = listening_hosts(endpoint, ipv6, kResolvePatience);
  if (!hosts.ok()) return hosts.error();
  int code = 0;
  for (const std::string& host : *hosts) {
    if (::zmq_bind(socket.handle(), Endpoint{host, endpoint.port}.text().c_str()) == 0) return socket.get(::zmq::sockopt::last_endpoint);
    code = ::zmq_errno();
  }
  return bind_error(endpoint, hosts->front(), code);
}

Status connect(::zmq::socket_t& socket, const Endpoint& endpoint) {
  if (endpoint.port == 0 || endpoint.host == "*") return {Errc::bad_config, endpoint.text() + ": not an address to connect to"};
  if (endpoint.is_ipv6()) socket.set(::zmq::sockopt::ipv6, true);
  if (::zmq_connect(socket.handle(), endpoint.text().c_str()) == 0) return {};
  return {Errc::bad_config, endpoint.text() + ": " + ::zmq_strerror(::zmq_errno())};
}

}  // namespace hourglass::zmq

#ifdef __SANITIZE_THREAD__
/// The system's libzmq is not built for the thread sanitizer, which cannot see how its lock-free queues order what passes through them.
/// What is ours stays watched. Called by the sanitizer's runtime at start.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() { return "called_from_lib:libzmq.so\n"; }
#endif
