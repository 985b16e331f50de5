// SPDX-License-Identifier: Apache-2.0
// hourglass top: the dashboard for people who are there by ssh.
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "services/command.h"
#include "services/hosting/stop_signals.h"
#include "services/top/http_get.h"
#include "services/top/screen.h"

namespace hourglass {
namespace {
using namespace std::chrono_literals;

constexpr Duration kAnswerWithin = 5s;
constexpr auto kPause = 1s;
constexpr std::size_t kColumnsOfAFile = 120;

top::Look look_of_terminal() {
  winsize size{};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  // The cursor ends below the last line: one row fewer, or the screen would scroll.
  return {known ? size.ws_col : std::size_t{80}, known && size.ws_row > 1 ? size.ws_row - 1U : 23U, std::getenv("NO_COLOR") == nullptr};
}

void sleep_unless_stopped() {
  for (auto end = std::chrono::steady_clock::now() + kPause; stop_count == 0 && std::chrono::steady_clock::now() < end;)
    std::this_thread::sleep_for(20ms);
}

}  // namespace

ExitCode run_top(Invocation& invocation) {
  const auto address = top::parse_address(invocation.place.empty() ? "127.0.0.1:8080" : invocation.place);
  if (!address.ok()) {
    std::cerr << "hourglass: " << address.error().text << '\n';
    return ExitCode::usage;
  }
  const bool once = invocation.once || isatty(STDOUT_FILENO) == 0;
  catch_stops();
  if (!once) std::cout << "\x1b[?1049h\x1b[?25l";  // a screen of its own, no cursor
  ExitCode code = ExitCode::ok;
  std::string told;
  while (stop_count == 0) {
    const auto state = top::http_get(*address, "/api/v1/state", kAnswerWithin);
    const top::Look look = once ? top::Look{kColumnsOfAFile, 0, false} : look_of_terminal();
    const auto screen = state.ok() ? top::screen_of(*state, look) : std::nullopt;
    told = screen ? "" : state.ok() ? "what answers there is no monitor of this version" : state.error().text;
    if (once) {
      for (const auto& line : screen.value_or(std::vector<std::string>())) std::cout << line << '\n';
      code = screen ? ExitCode::ok : ExitCode::unavailable;
      break;
    }
    std::cout << "\x1b[H";
    for (const auto& line : screen.value_or(std::vector<std::string>{told + "; trying again"})) std::cout << line << "\x1b[K\r\n";
    std::cout << "\x1b[J" << std::flush;
    sleep_unless_stopped();
  }
  if (!once) std::cout << "\x1b[?25h\x1b[?1049l" << std::flush;
  if (!told.empty()) std::cerr << "hourglass: " << told << "; is it running? hourglass top http://HOST:PORT\n";
  return code;
}

}  // namespace hourglass
