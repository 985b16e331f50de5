// SPDX-License-Identifier: Apache-2.0
#include "runtime/zmq/log_limiter.h"

namespace hourglass::zmq {

LogLimiter::Verdict LogLimiter::ask(std::string_view event, std::string_view peer, Instant now) {
  std::string key = std::string(event) + '\n' + std::string(peer);
  if (!lines_.contains(key) && lines_.size() >= kKeysMax) {
    forget_old(now);
    if (lines_.size() >= kKeysMax) key = std::string(event) + "\n*";  // events are few: they are names in our code
  }
  const auto [at, is_new] = lines_.try_emplace(key);
  Line& line = at->second;
  if (!is_new && now - line.passed < kPause) {
    ++line.suppressed;
    return {};
  }
  const Verdict verdict{true, line.suppressed};
  line = {now, 0};
  return verdict;
}

void LogLimiter::forget_old(Instant now) {
  if (now < next_cleaning_) return;  // under a flood of peers this would be all that we do
  next_cleaning_ = now + std::chrono::seconds(1);
  std::erase_if(lines_, [now](const auto& entry) { return now - entry.second.passed >= kPause; });
}

}  // namespace hourglass::zmq
