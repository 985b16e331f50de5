// SPDX-License-Identifier: Apache-2.0
// Endpoints, identities, timers, log limits: the parts of the socket reactor that need no peer.
#include <gtest/gtest.h>

#include "runtime/zmq/endpoint.h"
#include "runtime/zmq/identity.h"
#include "runtime/zmq/log_limiter.h"
#include "runtime/zmq/name_lookup.h"
#include "runtime/zmq/timer_queue.h"
#include "runtime/zmq/transport.h"
#include "runtime/zmq/zmq_reactor.h"
#include "tests/runtime/raw_tcp.h"

namespace hourglass::zmq {
namespace {

TEST(Endpoints, BothFormsParse) {
  EXPECT_EQ(parse_endpoint("tcp://10.0.0.7:41234")->text(), "tcp://10.0.0.7:41234");
  EXPECT_EQ(parse_endpoint("aggregator:5000")->text(), "tcp://aggregator:5000");
  EXPECT_EQ(parse_endpoint("*:0")->host, "*");
  const auto six = parse_endpoint("tcp://[::1]:7");
  ASSERT_TRUE(six.ok());
  EXPECT_TRUE(six->is_ipv6());
  EXPECT_EQ(six->host, "::1");
  EXPECT_EQ(six->text(), "tcp://[::1]:7");
}

TEST(Endpoints, EverythingElseIsRefused) {
  for (const char* bad : {"", ":", "host", "host:", "host:x", "host:65536", "host:-1", "host: 1", ":5", "ipc://x:1", "tcp://a;b:1",
                          "tcp://a/b:1", "[::1:5", "[zz]:5", "[1.2.3.4]:5", "::1:5", "inproc://a:1", "a b:1"}) {
    const auto parsed = parse_endpoint(bad);
    ASSERT_FALSE(parsed.ok()) << bad;
    EXPECT_EQ(parsed.error().code, Errc::bad_config);
  }
  EXPECT_FALSE(parse_endpoint(std::string(300, 'a') + ":1").ok());
}

ZmqOptions listening_on(std::string bind) {
  ZmqOptions options;
  options.self = kAggregator;
  options.bind = std::move(bind);
  options.linger = Duration::zero();
  return options;
}

TEST(Listening, S1_S3_AddressesNamesAndInterfacesWorkAndTheRealPortIsTold) {
  for (const char* where : {"tcp://0.0.0.0:0", "tcp://127.0.0.1:0", "tcp://*:0", "tcp://localhost:0", "tcp://lo:0", "localhost:0"}) {
    auto reactor = ZmqReactor::create(listening_on(where));
    ASSERT_TRUE(reactor.ok()) << where << ": " << reactor.error().text;
    EXPECT_GT((*reactor)->bound_port(), 0) << where;
    EXPECT_TRUE(RawTcp::connect((*reactor)->bound_port()).ok()) << where;
    EXPECT_TRUE((*reactor)->bound_endpoint().ends_with(":" + std::to_string((*reactor)->bound_port())));
  }
}

TEST(Listening, S1_Ipv6IsSpokenWhereAnIpv6AddressIsGiven) {
  const int probe = ::socket(AF_INET6, SOCK_STREAM, 0);
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  const bool has_ipv6 = probe >= 0 && ::bind(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  if (probe >= 0) ::close(probe);
  const auto reactor = ZmqReactor::create(listening_on("tcp://[::1]:0"));
  EXPECT_EQ(reactor.ok(), has_ipv6);  // a machine without IPv6 gets an error, not a crash
  if (reactor.ok()) {
    EXPECT_TRUE((*reactor)->bound_endpoint().starts_with("tcp://[::1]:"));
  }
}

TEST(Listening, S1_WrongNamesAndForeignAddressesAreErrorsWithHints) {
  const auto nowhere = ZmqReactor::create(listening_on("tcp://no-such-host.invalid:0"));
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.error().code, Errc::bad_config);
  EXPECT_NE(nowhere.error().text.find("no-such-host.invalid"), std::string::npos);
  const auto foreign = ZmqReactor::create(listening_on("tcp://192.0.2.1:0"));
  ASSERT_FALSE(foreign.ok());
  EXPECT_EQ(foreign.error().code, Errc::io);
  EXPECT_NE(foreign.error().text.find("192.0.2.1"), std::string::npos);
  EXPECT_EQ(ZmqReactor::create(listening_on("ipc:///tmp/x")).error().code, Errc::bad_config);
  ZmqOptions options = listening_on("tcp://127.0.0.1:0");
  options.aggregator = "nowhere";
  EXPECT_EQ(ZmqReactor::create(options).error().code, Errc::bad_config);
}

TEST(Listening, S2_APortInUseIsNamed) {
  const RawTcp owner = RawTcp::listen();
  const std::string port = std::to_string(owner.port());
  const auto reactor = ZmqReactor::create(listening_on("tcp://127.0.0.1:" + port));
  ASSERT_FALSE(reactor.ok());
  EXPECT_EQ(reactor.error().code, Errc::io);
  EXPECT_NE(reactor.error().text.find("port " + port + " is in use"), std::string::npos) << reactor.error().text;
}

TEST(Names, AreLookedUpInTheBackgroundAndAnsweredOnce) {
  NameLookup lookup;
  EXPECT_FALSE(lookup.under_way());
  EXPECT_FALSE(lookup.take().has_value());
  lookup.begin("localhost", false);
  EXPECT_TRUE(lookup.under_way());
  const auto found = lookup.take(std::chrono::minutes(1));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->cause, "");
  EXPECT_EQ(found->addresses, std::vector<std::string>{"127.0.0.1"});
  EXPECT_FALSE(lookup.under_way());
  EXPECT_FALSE(lookup.take().has_value());
  lookup.begin("no-such-host.invalid", false);
  const auto nowhere = lookup.take(std::chrono::minutes(1));
  ASSERT_TRUE(nowhere.has_value());
  EXPECT_NE(nowhere->cause, "");
}

TEST(Names, HostsWithSeveralAddressesAreTriedInTurn) {
  const NameLookup::Answer answer{"", {"10.0.0.1", "10.0.0.2"}};
  EXPECT_EQ(answer.after(""), "10.0.0.1");
  EXPECT_EQ(answer.after("10.0.0.1"), "10.0.0.2");
  EXPECT_EQ(answer.after("10.0.0.2"), "10.0.0.1");
  EXPECT_EQ(answer.after("10.0.0.9"), "10.0.0.1") << "it has moved";
}

TEST(Identities, RoundTripAndForeignOnesAreRefused) {
  for (std::uint8_t role = 0; role < kRoles; ++role) {
    const ActorId id{static_cast<Role>(role), 0x01020304U * (role + 1U)};
    for (const Line line : {Line::messages, Line::heartbeats}) {
      const auto decoded = decode_identity(encode({line, id}));
      ASSERT_TRUE(decoded.has_value());
      EXPECT_EQ(decoded->actor, id);
      EXPECT_EQ(decoded->line, line);
    }
  }
  EXPECT_EQ(encode({Line::messages, {Role::fc_worker, 0x04030201}}), std::string("H\x02\x01\x02\x03\x04"));
  for (const std::string& bad :
       {std::string(), std::string("H"), std::string("X\x01\x01\x02\x03\x04"), std::string("H\x06\x01\x02\x03\x04"),
        std::string("H\x01\x01\x02\x03\x04\x05"), std::string("\0\x01\x02\x03\x04", 5)}) {
    EXPECT_FALSE(decode_identity(bad).has_value());
  }
}

TEST(Transport, TheKernelFindsDeadHostsAndZmtpBeatsStayOff) {
  ::zmq::context_t context = make_context(64);
  const ActorId self{Role::conv_worker, 7};
  const TransportSettings settings{1 << 20, std::chrono::milliseconds(10), false};
  const ::zmq::socket_t router = make_router(context, self, settings);
  const ::zmq::socket_t dealer = make_dealer(context, {Line::messages, self}, settings);
  for (const ::zmq::socket_t* socket : {&router, &dealer}) {
    EXPECT_EQ(socket->get(::zmq::sockopt::heartbeat_ivl), 0) << "they can abort the process: see transport.h";
    EXPECT_EQ(socket->get(::zmq::sockopt::tcp_keepalive), 1);
    EXPECT_LE(socket->get(::zmq::sockopt::tcp_keepalive_idle), 5);
    EXPECT_GT(socket->get(::zmq::sockopt::tcp_maxrt), 10000) << "longer than a pause of a live peer";
  }
}

TEST(Timers, EachNumberHasOneWake) {
  TimerQueue timers;
  const auto at = [](int ms) { return Instant(std::chrono::milliseconds(ms)); };
  timers.set(1, at(10));
  timers.set(2, at(5));
  timers.set(1, at(3));
  EXPECT_EQ(timers.next(), at(3));
  EXPECT_EQ(timers.take_due(at(2)), std::nullopt);
  EXPECT_EQ(timers.take_due(at(100)), 1U);
  EXPECT_EQ(timers.take_due(at(100)), 2U);
  EXPECT_EQ(timers.take_due(at(100)), std::nullopt);
  EXPECT_EQ(timers.next(), std::nullopt);
}

TEST(LogLimits, OneLineAMinuteForEachEventAndPeer) {
  LogLimiter limiter;
  const auto at = [](int s) { return Instant(std::chrono::seconds(s)); };
  EXPECT_TRUE(limiter.ask("dropped", "a", at(0)).pass);
  EXPECT_TRUE(limiter.ask("dropped", "b", at(0)).pass);
  EXPECT_TRUE(limiter.ask("silent", "a", at(0)).pass);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(limiter.ask("dropped", "a", at(30)).pass);
  const auto later = limiter.ask("dropped", "a", at(60));
  EXPECT_TRUE(later.pass);
  EXPECT_EQ(later.suppressed, 5U);
  EXPECT_EQ(limiter.ask("dropped", "a", at(120)).suppressed, 0U);
}

TEST(LogLimits, ManyPeersShareOneLine) {
  LogLimiter limiter;
  std::size_t passed = 0;
  for (std::size_t i = 0; i < 10 * LogLimiter::kKeysMax; ++i) passed += limiter.ask("dropped", std::to_string(i), Instant{}).pass ? 1 : 0;
  EXPECT_EQ(passed, LogLimiter::kKeysMax + 1);
  EXPECT_TRUE(limiter.ask("dropped", "new", Instant(std::chrono::minutes(2))).pass) << "old ones are forgotten";
}

}  // namespace
}  // namespace hourglass::zmq
