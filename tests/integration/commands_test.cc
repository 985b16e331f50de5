// SPDX-License-Identifier: Apache-2.0
// What the built program says and how it ends, command by command.
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "services/hosting/text_file.h"
#include "tests/integration/program.h"

namespace hourglass::integration {
namespace {

using Words = std::vector<std::string>;
using Variables = std::map<std::string, std::string>;

int run(const Words& words, std::string* output = nullptr, std::string* errors = nullptr, const Variables& variables = {}) {
  Program program(HOURGLASS_PROGRAM, words, fresh_folder("command"), variables);
  const int code = program.wait(30);
  if (output != nullptr) *output = program.output();
  if (errors != nullptr) *errors = program.errors();
  return code;
}

TEST(Commands, HelpAndVersionAreOnStandardOutput) {
  std::string out, err;
  EXPECT_EQ(run({"--help"}, &out, &err), 0);
  EXPECT_EQ(err, "");
  for (const char* command : {"train", "data-loader", "conv-worker", "fc-worker", "aggregator", "monitor", "evaluate", "check",
                              "healthcheck", "solo", "simulate"}) {
    EXPECT_NE(out.find(command), std::string::npos) << command;
    std::string own;
    EXPECT_EQ(run({command, "--help"}, &own), 0);
    EXPECT_NE(own.find("Exit codes:"), std::string::npos) << command;
    EXPECT_NE(own.find("Examples:"), std::string::npos) << command;
  }
  EXPECT_EQ(run({"--version"}, &out), 0);
  EXPECT_EQ(out.rfind("hourglass 0.", 0), 0U) << out;
}

TEST(Commands, ListingsNameTheRegistries) {
  std::string out;
  EXPECT_EQ(run({"models"}, &out), 0);
  EXPECT_NE(out.find("lenet5"), std::string::npos);
  EXPECT_EQ(run({"datasets"}, &out), 0);
  EXPECT_NE(out.find("fashion_mnist"), std::string::npos);
  EXPECT_EQ(run({"compressors"}, &out), 0);
  EXPECT_NE(out.find("topk"), std::string::npos);
}

/// Columns begin at the same place in each line; kinds stand together, each under its name, in the order of a spec.
TEST(Commands, CompressorsAreListedByKindInColumns) {
  std::string out;
  ASSERT_EQ(run({"compressors"}, &out), 0);
  std::istringstream lines(out);
  std::string header;
  std::getline(lines, header);
  const std::size_t help = header.find("what it does");
  const std::size_t bits = header.find("bits an entry");
  const std::size_t source = header.find("source");
  ASSERT_NE(source, std::string::npos) << out;
  std::vector<std::string> kinds;
  int rows = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    if (line.size() < source) {
      kinds.push_back(line);
      continue;
    }
    ++rows;
    for (const std::size_t column : {help, bits, source}) {
      ASSERT_LT(column, line.size()) << line;
      EXPECT_TRUE(line[column - 1] == ' ' && line[column] != ' ') << line;
    }
  }
  EXPECT_GT(rows, 5);
  ASSERT_GE(kinds.size(), 3U);
  EXPECT_EQ(kinds.back(), "boundary codec");
  EXPECT_EQ(kinds[kinds.size() - 2], "index codec");
  EXPECT_NE(std::find(kinds.begin(), kinds.end(), "selector"), kinds.end());
  EXPECT_EQ(std::set<std::string>(kinds.begin(), kinds.end()).size(), kinds.size());
}

TEST(Commands, S7_ExitCodesSayWhatIsWrong) {
  std::string err;
  EXPECT_EQ(run({}, nullptr, &err), 2);
  EXPECT_EQ(run({"trian"}, nullptr, &err), 2);
  EXPECT_NE(err.find("did you mean train?"), std::string::npos) << err;
  EXPECT_EQ(run({"check", "--bacth", "3"}, nullptr, &err), 2);
  EXPECT_NE(err.find("did you mean --batch?"), std::string::npos) << err;
  EXPECT_EQ(run({"check", "nowhere.toml"}, nullptr, &err), 66);
  EXPECT_EQ(run({"check", "--dataset", "fashion_mnist", "--data-dir", "/nonexistent"}, nullptr, &err), 66);
  EXPECT_EQ(run({"check", "--batch", "0"}, nullptr, &err), 78);
  EXPECT_NE(err.find("flag --batch: train.batch = \"0\": it must be a whole number from 1 to 4096"), std::string::npos) << err;
  EXPECT_EQ(run({"check", "--dataset", "synthetic"}, nullptr, &err, {{"HOURGLASS_SEED", ""}}), 78);
  EXPECT_NE(err.find("environment HOURGLASS_SEED: run.seed"), std::string::npos) << err;
  EXPECT_EQ(run({"evaluate", "--dataset", "synthetic"}, nullptr, &err), 2);
  EXPECT_EQ(run({"evaluate", "--dataset", "synthetic", "--from", "/nonexistent"}, nullptr, &err), 66);
  EXPECT_EQ(run({"healthcheck", "--health-file", "/nonexistent/file"}, nullptr, &err), 1);
}

TEST(Commands, CheckNamesEveryWrongSettingWithItsPlace) {
  const std::string file = fresh_folder("check") + "/run.toml";
  std::ofstream(file) << "[train]\nbatch = 0\nstaleness = \"never\"\nepoch = 3\n[bytes]\ncompress = \"topk ratio=2\"\n";
  std::string err;
  EXPECT_EQ(run({"check", file, "--dataset", "synthetic"}, nullptr, &err), 78);
  for (const char* part : {":2:9: train.batch = 0: it must be", ":3:13: train.staleness = \"never\": it must be",
                           ":4:1: unknown key train.epoch; did you mean train.epochs?", ":6:12: bytes.compress = \"topk ratio=2\": "}) {
    EXPECT_NE(err.find(part), std::string::npos) << part << "\n" << err;
  }
}

TEST(Commands, AGoodJobPassesAndPrintsItsOrigins) {
  std::string out, err;
  EXPECT_EQ(run({"check", "--dataset", "synthetic", "--model", "lenet5"}, &out, &err), 0) << err;
  EXPECT_NE(out.find("ok: lenet5 on synthetic"), std::string::npos);
  EXPECT_EQ(run({"train", "--dataset", "synthetic", "--print-config"}, &out, &err, {{"HOURGLASS_BATCH", "32"}}), 0);
  EXPECT_NE(out.find("# environment HOURGLASS_BATCH"), std::string::npos) << out;
  EXPECT_NE(out.find("# flag --dataset"), std::string::npos) << out;
}

class EachWorker : public ::testing::TestWithParam<const char*> {};

TEST_P(EachWorker, S7_WithoutAnAggregatorSettingItSaysWhatIsMissing) {
  std::string err;
  EXPECT_EQ(run({GetParam(), "--monitor-port", "0"}, nullptr, &err), 78);
  EXPECT_NE(err.find("process.aggregator is missing: give --aggregator host:port, HOURGLASS_AGGREGATOR"), std::string::npos) << err;
  EXPECT_EQ(run({GetParam(), "--aggregator", "nowhere"}, nullptr, &err), 78);
  EXPECT_NE(err.find("flag --aggregator: process.aggregator = \"nowhere\": it must be host:port"), std::string::npos) << err;
}

TEST_P(EachWorker, S3_S12_AloneItSaysWhatItWaitsForAndLeavesOnRequest) {
  const std::string folder = fresh_folder("alone");
  Program program(HOURGLASS_PROGRAM,
                  {GetParam(), "--aggregator", "127.0.0.1:1", "--listen", "127.0.0.1:0", "--monitor-port", "0", "--port-file",
                   folder + "/port", "--health-file", folder + "/health"},
                  folder);
  EXPECT_TRUE(eventually([&] { return program.errors().find("waiting for aggregator at 127.0.0.1:1") != std::string::npos; }, 30))
      << program.errors();
  const auto port = read_text(folder + "/port");
  ASSERT_TRUE(port.has_value());
  EXPECT_GT(std::stoi(*port), 0);
  std::string err;
  EXPECT_EQ(run({"healthcheck", "--health-file", folder + "/health"}, nullptr, &err), 1);
  EXPECT_NE(err.find("alive but not ready"), std::string::npos) << err;
  program.signal(SIGTERM);
  EXPECT_EQ(program.wait(30), 0) << program.errors();
}

INSTANTIATE_TEST_SUITE_P(Roles, EachWorker, ::testing::Values("data-loader", "conv-worker", "fc-worker", "monitor"), [](const auto& each) {
  std::string name = each.param;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

TEST(Aggregator, S3_S12_AloneItNamesWhatIsMissingIsHealthyAndSavesOnRequest) {
  const std::string folder = fresh_folder("aggregator");
  Program program(HOURGLASS_PROGRAM,
                  {"aggregator", "--dataset", "synthetic", "--model", "lenet5", "--listen", "127.0.0.1:0", "--run-dir", folder + "/run",
                   "--port-file", folder + "/port", "--health-file", folder + "/health"},
                  folder);
  EXPECT_TRUE(eventually([&] { return program.errors().find("waiting for") != std::string::npos; }, 30)) << program.errors();
  std::string err;
  EXPECT_EQ(run({"healthcheck", "--health-file", folder + "/health"}, nullptr, &err), 0) << err;
  program.signal(SIGTERM);
  EXPECT_EQ(program.wait(30), 0) << program.errors();
  EXPECT_TRUE(read_text(folder + "/run/result.json").has_value());
  EXPECT_NE(read_text(folder + "/run/job.toml").value_or("").find("lenet5"), std::string::npos);
  EXPECT_FALSE(read_text(folder + "/health").has_value());
}

class TakenPort : public ::testing::Test {
 protected:
  TakenPort() : handle_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(handle_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(handle_, 1), 0);
    socklen_t length = sizeof address;
    getsockname(handle_, reinterpret_cast<sockaddr*>(&address), &length);
    port_ = std::to_string(ntohs(address.sin_port));
  }
  ~TakenPort() override { close(handle_); }
  int handle_;
  std::string port_;
};

TEST_F(TakenPort, S2_EndsARoleAtOnceAndNamesPortAndOwner) {
  for (const Words& words : {Words{"aggregator", "--dataset", "synthetic", "--listen", "127.0.0.1:" + port_},
                             Words{"conv-worker", "--aggregator", "127.0.0.1:1", "--listen", "127.0.0.1:" + port_},
                             Words{"monitor", "--aggregator", "127.0.0.1:1", "--monitor-port", port_}}) {
    std::string err;
    EXPECT_EQ(run(words, nullptr, &err), 69) << words[0] << err;
    EXPECT_NE(err.find(port_), std::string::npos) << err;
    EXPECT_NE(err.find("pid " + std::to_string(getpid())), std::string::npos) << err;
  }
}

TEST(Listen, S1_EveryFormWorksOrSaysWhatIsWrong) {
  for (const char* form : {"0.0.0.0:0", "*:0", "localhost:0", "lo:0", "[::1]:0"}) {
    const std::string folder = fresh_folder("listen");
    Program program(
        HOURGLASS_PROGRAM,
        {"conv-worker", "--aggregator", "127.0.0.1:1", "--listen", form, "--port-file", folder + "/port", "--health-file", "off"}, folder);
    EXPECT_TRUE(eventually([&] { return read_text(folder + "/port").has_value(); }, 30)) << form << program.errors();
    program.signal(SIGTERM);
    EXPECT_EQ(program.wait(30), 0) << form;
  }
  std::string err;
  EXPECT_EQ(run({"conv-worker", "--aggregator", "127.0.0.1:1", "--listen", "no-such-host.invalid:0"}, nullptr, &err), 78) << err;
  EXPECT_NE(err.find("no-such-host.invalid"), std::string::npos) << err;
}

}  // namespace
}  // namespace hourglass::integration
