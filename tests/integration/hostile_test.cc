// SPDX-License-Identifier: Apache-2.0
// Strangers at every listening port of a job that trains change nothing but a counter.
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "base/random.h"
#include "services/hosting/text_file.h"
#include "tests/integration/program.h"
#include "tests/runtime/foreign_dealer.h"

namespace hourglass::integration {
namespace {

/// Sends what it can; the other side may hang up at any time.
void throw_at(std::uint16_t port, const std::string& bytes) {
  const int socket_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_GE(socket_fd, 0);
  timeval patience{2, 0};
  setsockopt(socket_fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(connect(socket_fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0) << "port " << port;
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t count = send(socket_fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) break;
    sent += static_cast<std::size_t>(count);
  }
  close(socket_fd);
}

TEST(Hostile, N1_N2_N3_StrangersAtEveryPortChangeNothingButACounter) {
  const std::string folder = fresh_folder("hostile");
  Program train(HOURGLASS_PROGRAM,
                {"train", "--dataset", "synthetic", "--model", "lenet5", "--samples", std::to_string(kEndless), "--learning-rate", "0.01",
                 "--json", "--run-dir", folder + "/run", "--set", "monitor.port=0"},
                folder);
  const auto samples_done = [&] {
    const auto text = read_text(folder + "/run/status.json");
    if (!text) return std::uint64_t{0};
    const auto status = nlohmann::json::parse(*text, nullptr, false);
    return status.is_object() ? status.value("samples_done", std::uint64_t{0}) : 0;
  };
  ASSERT_TRUE(eventually([&] { return samples_done() > 500; })) << train.errors();
  std::set<std::uint16_t> ports;
  std::size_t processes = 0;
  for (const pid_t child : children(train.id())) {
    const auto own = listening_ports(child);
    processes += own.empty() ? 0 : 1;
    ports.insert(own.begin(), own.end());
  }
  ASSERT_GE(processes, 4U) << "aggregator, data loader, FC worker and monitor listen";
  Random random(7);
  std::string noise(1 << 20, '\0');
  for (char& byte : noise) byte = static_cast<char>(random.next());
  const std::string greeting("\xff\0\0\0\0\0\0\0\x01\x7f\x03\0NULL", 16);  // of ZMTP 3.0, then a body that claims 4 G elements
  const std::string claim = greeting + std::string(48, '\0') +
                            std::string(
                                "\x04\x19\x05READY\x0bSocket-Type\0\0\0\x06"
                                "DEALER",
                                33) +
                            std::string("\0\x05\xdd\xff\xff\xff\xff", 7);
  for (const std::uint16_t port : ports) {
    throw_at(port, "GET / HTTP/1.1\r\nHost: somewhere\r\n\r\n");
    throw_at(port, noise);
    throw_at(port, claim);
    throw_at(port, std::string("\xdd\xff\xff\xff\xff", 5));
    Dealer dealer("tcp://127.0.0.1:" + std::to_string(port));  // sends, at its end, what it can within two seconds
    const std::string body(100, 'b'), header = header_for({Role::conv_worker, 77}, body.size());
    dealer.send({"junk"});
    dealer.send({""});
    dealer.send({"1", "2", "3"});
    dealer.send(std::vector<std::string>(100, "x"));
    dealer.send({header, body.substr(0, 60)});
  }
  const std::uint64_t before = samples_done();
  ASSERT_TRUE(eventually([&] { return samples_done() >= before + 60'000; }, 300)) << train.errors();
  train.signal(SIGTERM);
  ASSERT_EQ(train.wait(), 0) << train.errors();
  const auto result = nlohmann::json::parse(train.output());
  EXPECT_EQ(result["status"], "stopped");
  EXPECT_EQ(result["samples_repeated"], 0);
  EXPECT_GT(result["accuracy"].get<double>(), 0.9) << result["history"].dump();
  std::uint64_t rejected = 0;
  for (const auto& [reason, count] : result["ledger"]["rejected"].items()) rejected += count.get<std::uint64_t>();
  EXPECT_EQ(rejected, 0U);
  const auto count = [&](const char* kind) { return result["dropped_input"].value(kind, std::uint64_t{0}); };
  EXPECT_GE(count("rejected.connections"), 4 * 3U) << result["dropped_input"].dump();
  EXPECT_GE(count("rejected.frames"), 4 * 3U) << result["dropped_input"].dump();
  EXPECT_GE(count("rejected.header"), 3U) << result["dropped_input"].dump();
  EXPECT_EQ(train.errors().find("replaced"), std::string::npos) << "no process ended";
}

}  // namespace
}  // namespace hourglass::integration
