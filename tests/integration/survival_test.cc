// SPDX-License-Identifier: Apache-2.0
// Processes of a run on this machine die, stall and lose their ports; the run goes on. Each test sees that its fault happened.
#include <gtest/gtest.h>

#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <thread>

#include <nlohmann/json.hpp>

#include "services/hosting/text_file.h"
#include "tests/integration/balance.h"
#include "tests/integration/program.h"
#include "tests/runtime/raw_tcp.h"

namespace hourglass::integration {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

Words train_words(const std::string& run, std::uint64_t samples, const Words& more) {
  Words words = {"train",           "--dataset", "synthetic",      "--model",   "lenet5",
                 "--batch",         "32",        "--run-dir",      run,         "--json",
                 "--start-timeout", "120",       "--no-dashboard", "--samples", std::to_string(samples)};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::string number_in(const std::string& file) { return std::to_string(std::stoul(read_text(file).value_or("0"))); }

void expect_balance_and_replicas(const json& result) {
  expect_balance(result);
  EXPECT_GT(result["replicas"]["compared"].get<std::uint64_t>(), 0U);
  EXPECT_EQ(result["replicas"]["differing"], 0);
}

/// A run under `train` that goes on until it is asked to stop.
class Survival : public ::testing::Test {
 protected:
  void start(const std::string& name, const Words& more, std::uint64_t samples = kEndless) {
    folder_ = fresh_folder(name);
    run_ = folder_ + "/run";
    train_ = std::make_unique<Program>(HOURGLASS_PROGRAM, train_words(run_, samples, more), folder_);
    ASSERT_TRUE(eventually([&] { return samples_done(run_) > 500; }, 120)) << train_->errors();
  }
  [[nodiscard]] std::vector<pid_t> processes(const std::string& role) const { return children(train_->id(), role); }
  /// The process whose log is that of `name`: its arguments name it.
  [[nodiscard]] pid_t process_of(const std::string& name) const {
    const std::string role = name.substr(0, name.rfind('-'));
    for (const pid_t id : processes(role)) {
      if (read_text("/proc/" + std::to_string(id) + "/cmdline").value_or("").find(std::string("--name\0", 7) + name) != std::string::npos)
        return id;
    }
    return 0;
  }
  [[nodiscard]] std::size_t times_at_work(const std::string& name) const { return times(log_of(run_, name), ": at work"); }
  /// Waits until everybody has gone on by so many samples.
  bool goes_on(std::uint64_t samples) const { return integration::goes_on(run_, samples); }
  json finish() {
    train_->signal(SIGTERM);
    EXPECT_EQ(train_->wait(60), 0) << train_->errors();
    return json::parse(train_->output(), nullptr, false);
  }

  std::string folder_, run_;
  std::unique_ptr<Program> train_;
};

TEST_F(Survival, R15_TwoWorkersDieTenTimesInARowAndEachComesBack) {
  start("ten_times", {"--fc-workers", "0"});
  for (const std::string name : {"conv-worker-1", "conv-worker-2"}) {
    ASSERT_TRUE(eventually([&] { return times_at_work(name) == 1; }));
    for (std::size_t death = 1; death <= 10; ++death) {
      const pid_t victim = process_of(name);
      ASSERT_GT(victim, 0);
      ASSERT_EQ(kill(victim, SIGKILL), 0);
      ASSERT_TRUE(eventually([&] { return times_at_work(name) == death + 1; })) << name << ", death " << death << train_->errors();
    }
    EXPECT_EQ(times(train_->errors(), name + " ended with signal 9 (Killed)"), 10U);
  }
  ASSERT_TRUE(goes_on(1000));
  EXPECT_EQ(finish()["status"], "stopped");
}

TEST_F(Survival, R16_TwoDieAtOnceAndOneAborts) {
  start("two_at_once", {"--conv-workers", "4", "--staleness", "unlimited", "--learning-rate", "0.01"}, 100'000);
  const auto all = children(train_->id());
  ASSERT_EQ(kill(process_of("conv-worker-1"), SIGKILL), 0);
  ASSERT_EQ(kill(process_of("conv-worker-3"), SIGKILL), 0);
  ASSERT_TRUE(eventually([&] { return times_at_work("conv-worker-1") == 2 && times_at_work("conv-worker-3") == 2; })) << train_->errors();
  ASSERT_EQ(kill(process_of("conv-worker-2"), SIGABRT), 0);
  ASSERT_EQ(train_->wait(600), 0) << train_->errors();
  EXPECT_EQ(times(train_->errors(), "conv-worker-2 ended with signal 6 (Aborted)"), 1U) << train_->errors();
  const json result = json::parse(train_->output());
  EXPECT_EQ(result["status"], "finished");
  EXPECT_EQ(result["samples"], 100'000);
  EXPECT_GT(result["accuracy"].get<double>(), 0.9);
  expect_balance_and_replicas(result);
  for (const pid_t id : all) EXPECT_NE(kill(id, 0), 0) << "an orphan: " << id;
}

TEST_F(Survival, R7_R20_AStoppedWorkerIsKeptWithinTheLimitAndGivenUpBeyond) {
  start("stopped", {"--dead-after", "5"});
  const pid_t victim = process_of("conv-worker-1");
  ASSERT_EQ(kill(victim, SIGSTOP), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));  // half the limit
  ASSERT_EQ(kill(victim, SIGCONT), 0);
  ASSERT_TRUE(goes_on(1000));
  EXPECT_EQ(log_of(run_, "aggregator-1").find("member lost"), std::string::npos);
  EXPECT_EQ(times_at_work("conv-worker-1"), 1U);

  ASSERT_EQ(kill(victim, SIGSTOP), 0);
  ASSERT_TRUE(eventually([&] { return log_of(run_, "aggregator-1").find("member lost") != std::string::npos; }));
  ASSERT_TRUE(goes_on(2000)) << "the others do not wait for it any more";
  EXPECT_EQ(process_of("conv-worker-1"), victim);
  ASSERT_EQ(kill(victim, SIGCONT), 0);
  ASSERT_TRUE(eventually([&] { return times_at_work("conv-worker-1") == 2; })) << log_of(run_, "conv-worker-1");
  EXPECT_EQ(process_of("conv-worker-1"), victim) << "it joins again by itself";
  finish();
}

/// Whoever it is: with a cut no worker's clock can be ahead of one that the FC worker waits for as well.
TEST_F(Survival, M6_OfARunWithACutAnyProcessThatIsWaitedForIsNamed) {
  start("awaited_cut", {"--staleness", "0", "--dead-after", "600"});
  const auto message = [&] {
    const json status = json::parse(read_text(run_ + "/status.json").value_or(""), nullptr, false);
    return status.is_object() ? status.value("message", "") : "";
  };
  for (const std::string name : {"conv-worker-1", "fc-worker-1", "data-loader-1"}) {
    ASSERT_TRUE(goes_on(500));
    const pid_t victim = process_of(name);
    ASSERT_EQ(kill(victim, SIGSTOP), 0);
    EXPECT_TRUE(eventually([&] { return message().find("waiting for " + name) == 0; })) << name << ": " << message();
    ASSERT_EQ(kill(victim, SIGCONT), 0);
  }
  ASSERT_TRUE(goes_on(500));
  EXPECT_TRUE(eventually([&] { return message().empty(); })) << message();
  finish();
}

TEST_F(Survival, M6_StatusLogAndTopNameTheWorkerThatEverybodyWaitsFor) {
  start("awaited", {"--staleness", "0", "--outstanding", "1", "--fc-workers", "0", "--dead-after", "600"});
  Program monitor(HOURGLASS_PROGRAM,
                  {"monitor", "--aggregator", "127.0.0.1:" + number_in(run_ + "/aggregator.port"), "--monitor-port", "0", "--port-file",
                   folder_ + "/monitor.port"},
                  fresh_folder("awaited_monitor"));
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder_ + "/monitor.port"); })) << monitor.errors();
  const pid_t victim = process_of("conv-worker-2");
  ASSERT_EQ(kill(victim, SIGSTOP), 0);
  const auto message = [&] {
    const json status = json::parse(read_text(run_ + "/status.json").value_or(""), nullptr, false);
    return status.is_object() ? status.value("message", "") : "";
  };
  EXPECT_TRUE(eventually([&] { return message().find("waiting for conv-worker-2 at step ") == 0; })) << message();
  EXPECT_NE(log_of(run_, "aggregator-1").find("everybody waits for one"), std::string::npos);
  std::string screen;
  EXPECT_TRUE(eventually([&] {
    Program top(HOURGLASS_PROGRAM, {"top", "--once", ":" + number_in(folder_ + "/monitor.port")}, fresh_folder("awaited_top"));
    EXPECT_EQ(top.wait(), 0) << top.errors();
    screen = top.output();
    return screen.find("waiting for conv-worker-2 at step ") != std::string::npos;
  })) << screen;
  ASSERT_EQ(kill(victim, SIGCONT), 0);
  ASSERT_TRUE(goes_on(500));
  EXPECT_TRUE(eventually([&] { return message().empty(); })) << message();
  finish();
}

/// Accepts whoever comes to a port, says nonsense and hangs up.
class Thief {
 public:
  explicit Thief(std::uint16_t port) : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int on = 1;
    ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    const sockaddr_in address = loopback(port);
    bound_ = ::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 && ::listen(listener_, 16) == 0;
    thread_ = std::thread([this] {
      while (bound_) {
        const RawTcp guest(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC));
        if (!guest.ok()) return;
        ++robbed_;
        guest.send("220 this is not what you look for\r\n");
      }
    });
  }
  ~Thief() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  [[nodiscard]] bool bound() const { return bound_; }
  [[nodiscard]] int robbed() const { return robbed_; }

 private:
  int listener_;
  bool bound_ = false;
  std::atomic<int> robbed_{0};
  std::thread thread_;
};

TEST_F(Survival, AThiefOfADeadWorkersPortGetsNothingAndStopsNobody) {
  start("thief", {"--dead-after", "3", "--learning-rate", "0.01"}, 100'000);
  const pid_t victim = process_of("fc-worker-1");
  const auto ports = listening_ports(victim);
  ASSERT_EQ(ports.size(), 1U);
  ASSERT_EQ(kill(victim, SIGKILL), 0);
  std::optional<Thief> thief;
  ASSERT_TRUE(eventually([&] {
    thief.emplace(*ports.begin());
    return thief->bound();
  }));
  EXPECT_TRUE(eventually([&] { return thief->robbed() > 0; })) << "somebody went to the old port";
  EXPECT_TRUE(eventually([&] { return times_at_work("fc-worker-1") >= 2; })) << train_->errors();
  EXPECT_FALSE(listening_ports(process_of("fc-worker-1")).contains(*ports.begin()));
  ASSERT_EQ(train_->wait(600), 0) << train_->errors();
  const json result = json::parse(train_->output());
  EXPECT_EQ(result["samples"], 100'000);
  EXPECT_GT(result["accuracy"].get<double>(), 0.9);
  expect_balance_and_replicas(result);
}

TEST_F(Survival, K2_AFullDiskLosesNothingButTheSaves) {
  folder_ = fresh_folder("full_disk");
  const std::string disk = folder_ + "/disk";
  ASSERT_EQ(mkdir(disk.c_str(), 0755), 0);
  ASSERT_EQ(mount("hourglass-test", disk.c_str(), "tmpfs", 0, "size=4m"), 0) << "needs root: " << strerror(errno);
  struct Unmount {
    std::string path;
    ~Unmount() { umount2(path.c_str(), MNT_DETACH); }
  } unmount{disk};
  run_ = disk + "/run";
  train_ = std::make_unique<Program>(HOURGLASS_PROGRAM, train_words(run_, kEndless, {"--evaluate-every", "5000"}), folder_);
  ASSERT_TRUE(eventually([&] { return samples_done(run_) > 500; }, 120)) << train_->errors();
  std::ofstream filler(disk + "/filler", std::ios::binary);
  const std::string block(1 << 12, 'x');
  while (filler.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
  }
  filler.close();
  // Log lines and the small status file may still find room that somebody frees; the model does not.
  const auto told = [&] { return times(log_of(run_, "aggregator-1"), "could not be saved") > 0; };
  bool happened = eventually(told, 60);
  if (!happened) {  // the log itself had no room for the line: make some
    std::filesystem::resize_file(disk + "/filler", std::filesystem::file_size(disk + "/filler") - (16U << 10));
    happened = eventually(told, 60);
  }
  EXPECT_TRUE(happened) << log_of(run_, "aggregator-1");
  std::filesystem::remove(disk + "/filler");
  ASSERT_TRUE(goes_on(1000)) << train_->errors();
  EXPECT_EQ(finish()["status"], "stopped");
  EXPECT_TRUE(std::filesystem::exists(run_ + "/model.safetensors"));
  EXPECT_EQ(train_->errors().find("ended with"), std::string::npos) << "nobody died of it: " << train_->errors();
}

TEST(Chaos, R19_TwoMinutesOfChaosAndTheRunReachesItsLastStep) {
  const std::string folder = fresh_folder("chaos");
  Program program(HOURGLASS_PROGRAM,
                  {"chaos", "--epochs", "3", "--minutes", "2", "--every", "5-15", "--checkpoint-every", "10", "--seed", "1", "--dead-after",
                   "5", "--run-dir", folder + "/run", "--monitor-port", "0", "--json"},
                  folder);
  ASSERT_EQ(program.wait(900), 0) << program.errors();
  const json result = json::parse(program.output());
  EXPECT_TRUE(result["chaos"]["passed"].get<bool>()) << result["chaos"].dump();
  EXPECT_GT(result["chaos"]["strikes"].size(), 1U);
  EXPECT_GT(result["accuracy"].get<double>(), 0.89) << result["history"].dump();
  expect_balance_and_replicas(result);
}

}  // namespace
}  // namespace hourglass::integration
