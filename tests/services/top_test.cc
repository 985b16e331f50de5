// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <sys/socket.h>
#include <thread>

#include "services/dashboard/dashboard.h"
#include "services/top/http_get.h"
#include "services/top/screen.h"
#include "tests/runtime/raw_tcp.h"
#include "tests/services/dashboard/synthetic_run.h"

namespace hourglass::top {
namespace {
using namespace std::chrono_literals;

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const auto& line : lines) out += line + "\n";
  return out;
}

TEST(Address, EveryUsualFormIsUnderstoodAndOthersAreNamed) {
  const auto is = [](const std::string& text, const std::string& host, std::uint16_t port) {
    const auto address = parse_address(text);
    return address.ok() && address->host == host && address->port == port;
  };
  EXPECT_TRUE(is("http://node-1:9000/", "node-1", 9000));
  EXPECT_TRUE(is("node-1:9000", "node-1", 9000));
  EXPECT_TRUE(is("node-1", "node-1", 8080));
  EXPECT_TRUE(is(":9000", "127.0.0.1", 9000));
  EXPECT_TRUE(is("http://[::1]:9000", "::1", 9000));
  EXPECT_TRUE(is("[::1]", "::1", 8080));
  for (const char* wrong : {"https://node-1", "node-1:", "node-1:0", "node-1:70000", "node-1:http", "::1", "[::1", "[::1]9", "http://"}) {
    const auto address = parse_address(wrong);
    ASSERT_FALSE(address.ok()) << wrong;
    EXPECT_NE(address.error().text.find(wrong), std::string::npos);
  }
}

class Live : public testing::Test {
 protected:
  void SetUp() override {
    DashboardOptions options;
    options.port = 0;
    auto started = Dashboard::start(options);
    ASSERT_TRUE(started.ok()) << started.error().text;
    dashboard_ = std::move(*started);
    SyntheticOptions run_options;
    run_options.run_seconds = 100;
    run_options.lose_one = true;
    run_ = std::make_unique<SyntheticRun>(&dashboard_->sink(), run_options);
  }
  void pass(int seconds) {
    for (int i = 0; i < seconds; ++i) run_->tick();
  }
  std::vector<std::string> screen(std::size_t columns = 120) {
    const auto state = http_get({"127.0.0.1", dashboard_->port()}, "/api/v1/state", 5s);
    EXPECT_TRUE(state.ok()) << state.error().text;
    const auto lines = screen_of(state.ok() ? *state : "", {columns, 0, false});
    EXPECT_TRUE(lines.has_value());
    return lines.value_or(std::vector<std::string>());
  }
  std::unique_ptr<Dashboard> dashboard_;
  std::unique_ptr<SyntheticRun> run_;
};

TEST_F(Live, ARunIsShownWithItsBooksAndEveryProcess) {
  pass(30);
  const std::string text = joined(screen());
  for (const char* words : {"training", "cnn on fashion_mnist", "epoch 4/10", "accuracy", "received = ", "staleness bound 4", "aggregator",
                            "conv-worker 1", "fc-worker", "data-loader"})
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
  EXPECT_EQ(text.find("DO NOT BALANCE"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << "no colour was asked for";
}

TEST_F(Live, BeforeAnythingIsKnownThereIsAScreenToo) { EXPECT_FALSE(screen().empty()); }

TEST_F(Live, NoLineIsWiderThanTheTerminal) {
  pass(60);
  for (const std::size_t columns : {20U, 80U}) {
    for (const std::string& line : screen(columns)) EXPECT_LE(line.size(), columns) << line;
  }
}

TEST(Screen, IsNoHigherThanTheTerminalAndSaysWhatIsLeftOut) {
  const std::string workers =
      R"({"role": "conv-worker", "number": 1},{"role": "conv-worker", "number": 2},{"role": "conv-worker", "number": 3})";
  const std::string state = R"({"run": {"phase": "training"}, "workers": [)" + workers + "]}";
  const auto all = screen_of(state, {120, 0, false});
  ASSERT_TRUE(all);
  EXPECT_EQ(screen_of(state, {120, all->size(), false}), all);
  const auto fewer = screen_of(state, {120, all->size() - 1, false});
  ASSERT_TRUE(fewer);
  ASSERT_EQ(fewer->size(), all->size() - 1);
  EXPECT_EQ(fewer->back().find("and 2 more lines"), 0U) << fewer->back();
}

TEST(Screen, NamesWhomEverybodyWaitsForAndBooksThatDoNotBalance) {
  const auto lines = screen_of(
      R"({"run": {"phase": "training", "status_age_seconds": 9.5, "message": "waiting for conv-worker-2 at step 17, silent for 64 s",
      "alarm": "the disk is full"}, "ledger": {"received": 5, "applied": 3, "rejected": {"stale": 1}, "rolled_back": 0, "balanced": false},
      "workers": []})",
      {120, 0, false});
  ASSERT_TRUE(lines);
  const std::string text = joined(*lines);
  for (const char* words :
       {"waiting for conv-worker-2 at step 17, silent for 64 s", "the disk is full", "no word from the aggregator for 9.5 s",
        "5 received = 3 applied + 1 rejected + 0 rolled back: THE BOOKS DO NOT BALANCE"})
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
}

TEST(Screen, AHostsNameTellsTheTerminalNothing) {
  const auto lines =
      screen_of(R"({"run": {"phase": "training"}, "workers": [{"role": "conv-worker", "number": 0, "host": "a\u001b[2Jb"}, 7, null]})",
                {120, 0, true});
  ASSERT_TRUE(lines);
  EXPECT_EQ(joined(*lines).find("\x1b[2J"), std::string::npos);
  EXPECT_NE(joined(*lines).find("a?[2Jb"), std::string::npos);
}

TEST(Screen, WhatIsNoStateIsNone) {
  for (const char* text : {"", "[]", "{}", "{\"run\"", "<html>"}) EXPECT_FALSE(screen_of(text, {})) << text;
  EXPECT_TRUE(screen_of(R"({"run": 3, "ledger": [], "staleness": null, "workers": {}, "history": {}})", {}).has_value())
      << "odd, but no crash";
}

/// What http_get makes of a server that says this.
Result<std::string> told(const std::string& bytes) {
  const RawTcp listener = RawTcp::listen();
  std::thread server([&] {
    const RawTcp guest = listener.accept();
    char request[4096];
    (void)recv(guest.descriptor(), request, sizeof request, 0);
    guest.send(bytes);
  });
  auto out = http_get({"127.0.0.1", listener.port()}, "/", 5s);
  server.join();
  return out;
}

TEST(HttpGet, NobodySomebodyElseAndOneWhoIsSilentAreTold) {
  const auto good = told("HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nhello");
  ASSERT_TRUE(good.ok()) << good.error().text;
  EXPECT_EQ(*good, "hello");
  EXPECT_EQ(told("220 this is mail\r\n").error().code, Errc::malformed);
  EXPECT_EQ(told("").error().code, Errc::malformed);
  const auto missing = told("HTTP/1.1 404 Not Found\r\n\r\n");
  EXPECT_EQ(missing.error().code, Errc::bad_data);
  EXPECT_NE(missing.error().text.find("404 Not Found"), std::string::npos) << missing.error().text;

  std::uint16_t port = 0;
  {
    const RawTcp silent = RawTcp::listen();
    port = silent.port();
    EXPECT_EQ(http_get({"127.0.0.1", port}, "/", 100ms).error().code, Errc::timed_out);
  }
  EXPECT_EQ(http_get({"127.0.0.1", port}, "/", 5s).error().code, Errc::unreachable);
  EXPECT_EQ(http_get({"no.such.host.invalid", 1}, "/", 5s).error().code, Errc::unreachable);
}

}  // namespace
}  // namespace hourglass::top
