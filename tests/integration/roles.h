// SPDX-License-Identifier: Apache-2.0
// A run whose processes a test starts by hand, one by one, on loopback.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "services/hosting/text_file.h"
#include "tests/integration/program.h"

namespace hourglass::integration {

class Roles {
 public:
  using Words = std::vector<std::string>;

  /// `job`: flags of the aggregator; everybody on the synthetic set, without FC workers unless it says otherwise.
  Roles(const std::string& name, Words job) : folder_(fresh_folder(name)), run_(folder_ + "/run"), job_(std::move(job)) {}

  /// At any free port the first time, at the same one later. `wrapper`: a program and its arguments, run in its stead.
  void start_aggregator(const Words& wrapper = {}) {
    Words words = {"aggregator",   "--dataset",   "synthetic",       "--batch",   "32", "--fc-workers", "0", "--listen",
                   address(port_), "--port-file", folder_ + "/port", "--run-dir", run_};
    words.insert(words.end(), job_.begin(), job_.end());
    std::filesystem::remove(folder_ + "/port");
    aggregator_ = launch("aggregator", words, wrapper);
    EXPECT_TRUE(eventually([&] { return read_text(folder_ + "/port").has_value(); })) << aggregator_->errors();
    port_ = static_cast<std::uint16_t>(std::stoul(read_text(folder_ + "/port").value_or("0")));
  }
  std::unique_ptr<Program> join(const std::string& role, const Words& more = {}) {
    Words words = {role, "--aggregator", address(port_), "--listen", address(0), "--threads", "1", "--log-format", "text"};
    words.insert(words.end(), more.begin(), more.end());
    return launch(role, words, {});
  }

  [[nodiscard]] Program& aggregator() { return *aggregator_; }
  [[nodiscard]] const std::string& run() const { return run_; }
  [[nodiscard]] nlohmann::json status() const { return object("status.json"); }
  [[nodiscard]] nlohmann::json result() const { return object("result.json"); }
  [[nodiscard]] std::uint64_t samples() const { return samples_done(run_); }
  /// Waits until everybody has gone on by so many samples.
  bool goes_on(std::uint64_t samples) const { return integration::goes_on(run_, samples); }

 private:
  static std::string address(std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); }
  [[nodiscard]] nlohmann::json object(const std::string& file) const {
    auto read = nlohmann::json::parse(read_text(run_ + "/" + file).value_or(""), nullptr, false);
    return read.is_object() ? read : nlohmann::json::object();
  }
  std::unique_ptr<Program> launch(const std::string& name, const Words& words, const Words& wrapper) {
    const std::string own = folder_ + "/" + name + "-" + std::to_string(++launched_);
    std::filesystem::create_directories(own);
    if (wrapper.empty()) return std::make_unique<Program>(HOURGLASS_PROGRAM, words, own);
    Words all(wrapper.begin() + 1, wrapper.end());
    all.emplace_back(HOURGLASS_PROGRAM);
    all.insert(all.end(), words.begin(), words.end());
    return std::make_unique<Program>(wrapper.front(), all, own);
  }

  std::string folder_, run_;
  Words job_;
  std::uint16_t port_ = 0;
  int launched_ = 0;
  std::unique_ptr<Program> aggregator_;
};

}  // namespace hourglass::integration
