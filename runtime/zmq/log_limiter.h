// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/time.h"

namespace hourglass::zmq {

/// Lets a line about one peer through once a minute, so that no peer fills a disk. Remembers a bounded number of peers; what comes from
/// more of them at a time shares one line for each event.
class LogLimiter {
 public:
  static constexpr std::size_t kKeysMax = 1024;
  static constexpr Duration kPause = std::chrono::minutes(1);

  struct Verdict {
    bool pass = false;
    std::uint64_t suppressed = 0;  ///< lines held back since the last one that passed
  };
  Verdict ask(std::string_view event, std::string_view peer, Instant now);

 private:
  struct Line {
    Instant passed{};
    std::uint64_t suppressed = 0;
  };
  void forget_old(Instant now);
  std::map<std::string, Line, std::less<>> lines_;
  Instant next_cleaning_{};
};

}  // namespace hourglass::zmq
