// SPDX-License-Identifier: Apache-2.0
// dashboard_demo PORT [SECONDS_BEFORE [RUN_SECONDS [CONV_WORKERS [lose|keep [PAUSE_MS [RUN_FOLDER]]]]]]: serves the dashboard of a
// synthetic run, SECONDS_BEFORE of which have already passed; each further second of it takes PAUSE_MS (1000). Prints "port N" and goes on
// until its standard input ends.
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "services/dashboard/dashboard.h"
#include "tests/services/dashboard/synthetic_run.h"

int main(int argc, char** argv) {
  using namespace hourglass;
  const auto number = [&](int i, int fallback) { return argc > i ? std::atoi(argv[i]) : fallback; };
  DashboardOptions options;
  options.port = static_cast<std::uint16_t>(number(1, 0));
  if (argc > 7) options.run_folder = argv[7];
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
