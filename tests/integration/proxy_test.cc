// SPDX-License-Identifier: Apache-2.0
// A CONV worker that reaches the aggregator through a relay which delays, slices, flips, freezes and cuts: what is damaged is counted and
// dropped, and the books balance.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>

#include <nlohmann/json.hpp>

#include "services/hosting/text_file.h"
#include "tests/integration/balance.h"
#include "tests/integration/program.h"
#include "tests/support/chaos_proxy.h"

namespace hourglass::integration {
namespace {

using nlohmann::json;
using testing_support::ChaosProxy;
using Words = std::vector<std::string>;

/// A job by hand; the second CONV worker comes through the proxy.
class Proxied : public ::testing::Test {
 protected:
  void start(const std::string& name, std::uint64_t samples, const Words& more = {}) {
    folder_ = fresh_folder(name);
    run_ = folder_ + "/aggregator";
    Words job = {"aggregator",
                 "--dataset",
                 "synthetic",
                 "--model",
                 "lenet5",
                 "--batch",
                 "32",
                 "--conv-workers",
                 "2",
                 "--fc-workers",
                 "0",
                 "--staleness",
                 "unlimited",
                 "--samples",
                 std::to_string(samples),
                 "--dead-after",
                 "4",
                 "--listen",
                 "127.0.0.1:0",
                 "--port-file",
                 "port",
                 "--run-dir",
                 run_};
    job.insert(job.end(), more.begin(), more.end());
    aggregator_ = launch("aggregator", job);
    ASSERT_TRUE(eventually([&] { return port() != 0; })) << aggregator_->errors();
    proxy_ = std::make_unique<ChaosProxy>(port());
    loader_ = join("data-loader", port());
    direct_ = join("conv-worker", port());
    through_ = join("conv-worker", proxy_->port());
    ASSERT_TRUE(eventually([&] { return samples_done(run_) > 500 && through_->errors().find("at work") != std::string::npos; }, 120))
        << aggregator_->errors() << through_->errors();
  }
  /// Asks the run to stop, or waits for its last step.
  json finish(bool stop) {
    if (stop) aggregator_->signal(SIGTERM);
    EXPECT_EQ(aggregator_->wait(300), 0) << aggregator_->errors() << through_->errors();
    for (const auto& member : {&loader_, &direct_, &through_}) EXPECT_EQ((*member)->wait(60), 0) << (*member)->errors();
    const json result = json::parse(read_text(run_ + "/result.json").value_or(""), nullptr, false);
    EXPECT_EQ(result["status"], stop ? "stopped" : "finished");
    expect_balance(result);
    EXPECT_EQ(result["replicas"]["compared"], stop ? 0 : 2);
    EXPECT_EQ(result["replicas"]["differing"], 0);
    return result;
  }
  bool goes_on(std::uint64_t samples) const { return integration::goes_on(run_, samples); }
  [[nodiscard]] std::size_t times_told(const std::string& words) const { return times(through_->errors(), words); }

  std::string folder_, run_;
  std::unique_ptr<ChaosProxy> proxy_;
  std::unique_ptr<Program> aggregator_, loader_, direct_, through_;

 private:
  std::unique_ptr<Program> launch(const std::string& name, const Words& words) {
    std::string own = folder_ + "/" + name;
    for (int i = 2; std::filesystem::exists(own); ++i) own = folder_ + "/" + name + std::to_string(i);
    std::filesystem::create_directories(own);
    return std::make_unique<Program>(HOURGLASS_PROGRAM, words, own);
  }
  std::unique_ptr<Program> join(const std::string& role, std::uint16_t at) {
    return launch(role, {role, "--aggregator", "127.0.0.1:" + std::to_string(at), "--listen", "127.0.0.1:0", "--threads", "1",
                         "--log-format", "text"});
  }
  [[nodiscard]] std::uint16_t port() const {
    const auto text = read_text(folder_ + "/aggregator/port");
    return text ? static_cast<std::uint16_t>(std::strtoul(text->c_str(), nullptr, 10)) : std::uint16_t{0};
  }
};

TEST_F(Proxied, DelaysSlicesAndCutsCostOnlyTime) {
  start("proxy_cuts", kEndless);
  proxy_->delay(20);
  EXPECT_TRUE(goes_on(500));
  proxy_->delay(0);
  proxy_->slice(true);
  EXPECT_TRUE(eventually([&] { return proxy_->slices() > 1000; }));
  EXPECT_TRUE(goes_on(500));
  proxy_->slice(false);
  for (std::uint64_t cut = 1; cut <= 3; ++cut) {
    const std::uint64_t before = proxy_->connections();
    proxy_->cut();
    EXPECT_TRUE(eventually([&] { return proxy_->connections() >= before + 2; })) << "messages and heartbeats connect again";
    EXPECT_TRUE(goes_on(500));
  }
  EXPECT_GE(proxy_->cuts(), 6U);
  const json result = finish(true);
  EXPECT_EQ(result["dropped_input"].value("rejected.header", 0), 0) << "nothing was damaged";
}

TEST_F(Proxied, FlippedBitsAreCountedAndDroppedAndEnterNoParameters) {
  start("proxy_flips", 20'000, {"--evaluate-every", "5000"});
  proxy_->flip_every(100'000);
  ASSERT_TRUE(eventually([&] { return proxy_->flips() >= 60; }, 120)) << samples_done(run_);
  proxy_->flip_every(0);
  const json result = finish(false);
  EXPECT_EQ(result["samples"], 20'000);
  EXPECT_GT(result["accuracy"].get<double>(), 0.9) << result["history"].dump();
  std::uint64_t dropped = 0;
  for (const auto& [kind, count] : result["dropped_input"].items()) dropped += count.get<std::uint64_t>();
  EXPECT_GT(dropped, 0U) << result["dropped_input"].dump();
  for (const char* verdict : {"nonfinite", "shape", "version"})
    EXPECT_EQ(result["ledger"]["rejected"][verdict], 0) << "damage got as far as that";
}

TEST_F(Proxied, AHalfOpenConnectionIsGivenUpAndTheWorkerComesBack) {
  start("proxy_half_open", kEndless);
  proxy_->freeze(true);
  ASSERT_TRUE(eventually([&] { return aggregator_->errors().find("member lost") != std::string::npos; })) << aggregator_->errors();
  ASSERT_TRUE(goes_on(1000)) << "the others go on";
  proxy_->freeze(false);
  EXPECT_TRUE(eventually([&] { return times_told(": at work") >= 2; }, 120)) << through_->errors();
  finish(true);
}

}  // namespace
}  // namespace hourglass::integration
