// SPDX-License-Identifier: Apache-2.0
#include "services/hosting/stop_signals.h"

namespace hourglass {

volatile std::sig_atomic_t stop_signal = 0;
volatile std::sig_atomic_t stop_count = 0;

namespace {

void on_stop(int number) {
  if (stop_signal == 0) stop_signal = number;
  stop_count = stop_count + 1;
}

}  // namespace

void catch_stops() { catch_stops(on_stop); }

void catch_stops(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  struct sigaction nothing {};
  nothing.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &nothing, nullptr);
}

}  // namespace hourglass
