// SPDX-License-Identifier: Apache-2.0
#include "services/dashboard/command_box.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "services/dashboard/dashboard.h"
#include "tests/services/dashboard/http_client.h"
#include "tests/services/dashboard/synthetic_run.h"

namespace hourglass {
namespace {
using Json = nlohmann::json;

class CommandsTest : public testing::Test {
 protected:
  void SetUp() override {
    auto started = Dashboard::start({"127.0.0.1", 0, {}, "a-good-token"});
    ASSERT_TRUE(started.ok()) << started.error().text;
    dashboard_ = std::move(*started);
  }
  Answer raw(const std::string& request) {
    HttpClient client(dashboard_->port());
    client.send(request);
    return client.answer();
  }

  std::unique_ptr<Dashboard> dashboard_;
};

TEST_F(CommandsTest, CommandsNeedTheTokenAndAPageOfThisServer) {
  const auto post = [&](const std::string& command, const std::string& headers) {
    return raw("POST /api/v1/commands/" + command + " HTTP/1.1\r\nHost: localhost:8080\r\n" + headers + "Content-Length: 0\r\n\r\n");
  };
  const std::string token = "Authorization: Bearer a-good-token\r\n";
  for (const std::string wrong :
       {"", "Authorization: Bearer a-bad-token!\r\n", "Authorization: Bearer a-good-toke\r\n", "Authorization: Bearer a-good-token2\r\n",
        "Authorization: a-good-token\r\n", "Authorization: Bearer \r\n", "Authorization: Basic a-good-token\r\n"}) {
    const Answer answer = post("stop", wrong);
    EXPECT_EQ(answer.status, 401) << wrong;
    EXPECT_EQ(answer.header("WWW-Authenticate"), "Bearer");
  }
  for (const std::string origin : {"http://evil.example", "http://localhost", "null", "http://localhost:8080.evil.example"}) {
    EXPECT_EQ(post("stop", token + "Origin: " + origin + "\r\n").status, 403) << origin;
  }
  EXPECT_EQ(post("explode", token).status, 404);
  EXPECT_EQ(post("", token).status, 404);
  EXPECT_EQ(raw("GET /api/v1/commands/stop HTTP/1.1\r\nHost: localhost\r\n" + token + "\r\n").status, 405);
  EXPECT_EQ(raw("POST /api/v1/commands/stop HTTP/1.1\r\nHost: localhost\r\n" + token + "Content-Length: 2\r\n\r\n{}").status, 413);
  EXPECT_EQ(raw("POST /api/v1/commands/stop HTTP/1.1\r\nHost: evil.example\r\n" + token + "Content-Length: 0\r\n\r\n").status, 421);
  EXPECT_TRUE(dashboard_->commands().take_commands().empty()) << "none of these was taken";

  const Answer taken = post("pause", token);
  EXPECT_EQ(taken.status, 202);
  EXPECT_EQ(Json::parse(taken.body), (Json{{"sequence", 1}, {"command", "pause"}}));
  EXPECT_EQ(post("resume", token + "Origin: http://LOCALHOST:8080\r\n").status, 202);
  const auto commands = dashboard_->commands().take_commands();
  ASSERT_EQ(commands.size(), 2U);
  EXPECT_EQ(commands[0].order, Order::pause);
  EXPECT_EQ(commands[1].order, Order::resume);
  for (std::size_t i = 0; i < CommandBox::kWaitingMax; ++i) EXPECT_EQ(post("checkpoint", token).status, 202);
  EXPECT_EQ(post("checkpoint", token).status, 503) << "nobody takes them";
}

TEST_F(CommandsTest, WithoutATokenNobodyGivesCommands) {
  auto open = Dashboard::start({"127.0.0.1", 0});
  ASSERT_TRUE(open.ok());
  HttpClient client((*open)->port());
  client.send("POST /api/v1/commands/stop HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(client.answer().status, 401);
}

TEST_F(CommandsTest, TheStateTellsWhatBecameOfACommand) {
  SyntheticRun run(&dashboard_->sink(), {}, &dashboard_->commands());
  for (int i = 0; i < 3; ++i) run.tick();
  ASSERT_EQ(
      raw("POST /api/v1/commands/checkpoint HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer a-good-token\r\nContent-Length: 0\r\n\r\n")
          .status,
      202);
  run.tick();
  EXPECT_EQ(Json::parse(raw("GET /api/v1/state HTTP/1.1\r\nHost: localhost\r\n\r\n").body)["commands"][0]["fate"], "sent");
  run.deliver(CommandReply{1, false, "this run keeps no checkpoints"});
  run.tick();
  const Json state = Json::parse(raw("GET /api/v1/state HTTP/1.1\r\nHost: localhost\r\n\r\n").body);
  EXPECT_EQ(state["commands"][0],
            (Json{{"sequence", 1}, {"command", "checkpoint"}, {"fate", "refused"}, {"text", "this run keeps no checkpoints"}}));
  EXPECT_NE(state["events"].dump().find("Command checkpoint: refused"), std::string::npos);
}

}  // namespace
}  // namespace hourglass
