// SPDX-License-Identifier: Apache-2.0
// dashboard_demo PORT [SECONDS_BEFORE [RUN_SECONDS [CONV_WORKERS [lose|keep [PAUSE_MS [RUN_FOLDER]]]]]]: serves the dashboard of a
// synthetic run, SECONDS_BEFORE of which have already passed; each further second of it takes PAUSE_MS (1000). Prints "port N" and goes on
// until its standard input ends.
#include <poll.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "services/dashboard/dashboard.h"
#include "tests/services/dashboard/synthetic_run.h"

namespace {
/// One earlier run, of five minutes, that learned more slowly.
class OneRun final : public hourglass::EarlierRuns {
 public:
  std::string list_json() override {
    return R"({"available":true,"runs":[{"id":"0123456789abcdef","folder":"yesterday","model":"cnn","dataset":"fashion_mnist","accuracy":0.875}]})";
  }
  std::optional<std::string> curves_json(std::string_view id) override {
    if (id != "0123456789abcdef") return std::nullopt;
    std::string time, loss, samples, version, bytes, history;
    for (int second = 1; second <= 300; ++second) {
      const std::string comma = second == 1 ? "" : ",";
      const double value = 0.3 + 2.1 * std::exp(-second / 45.0);
      time += comma + std::to_string(second);
      loss += comma + std::to_string(value);
      samples += comma + std::to_string(900 * second);
      version += comma + std::to_string(15 * second);
      bytes += comma + std::to_string(9000000.0 * second);
      if (second % 60 != 0) continue;
      history += std::string(second == 60 ? "" : ",") + "{\"seconds\":" + std::to_string(second) +
                 ",\"loss\":" + std::to_string(value + 0.08) + ",\"accuracy\":" + std::to_string(0.875 - 0.2 * std::exp(-second / 90.0)) +
                 "}";
    }
    return R"({"id":"0123456789abcdef","time":[)" + time + R"(],"loss":[)" + loss + R"(],"samples":[)" + samples + R"(],"version":[)" +
           version + R"(],"bytes":[)" + bytes + R"(],"history":[)" + history + "]}";
  }
};
}  // namespace

int main(int argc, char** argv) {
  using namespace hourglass;
  const auto number = [&](int i, int fallback) { return argc > i ? std::atoi(argv[i]) : fallback; };
  DashboardOptions options;
  options.port = static_cast<std::uint16_t>(number(1, 0));
  if (argc > 7) options.run_folder = argv[7];
  options.runs = std::make_shared<OneRun>();
  options.describe = [](std::span<const std::byte> begin) -> std::optional<CheckpointNote> {  // any file that is not empty will do here
    if (begin.empty()) return std::nullopt;
    return CheckpointNote{1, 60, 90000, 600000, 1182, 0.8125};
  };
  auto dashboard = Dashboard::start(options);
  if (!dashboard.ok()) {
    std::fprintf(stderr, "%s\n", dashboard.error().text.c_str());
    return 1;
  }
  SyntheticOptions run_options;
  run_options.run_seconds = number(3, 400);
  run_options.conv_workers = static_cast<std::uint32_t>(number(4, 4));
  run_options.lose_one = argc > 5 && std::strcmp(argv[5], "lose") == 0;
  SyntheticRun run(&(*dashboard)->sink(), run_options);
  for (int i = 0; i < number(2, 0); ++i) run.tick();
  std::printf("port %u\n", (*dashboard)->port());
  std::fflush(stdout);
  pollfd input{STDIN_FILENO, POLLIN, 0};
  while (poll(&input, 1, number(6, 1000)) == 0) run.tick();
  return 0;
}
