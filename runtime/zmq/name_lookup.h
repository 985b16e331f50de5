// SPDX-License-Identifier: Apache-2.0
// A host name is looked up on a thread of its own: a resolver cannot be interrupted and may take half a minute, and ZeroMQ would ask it on
// the thread that serves all other connections.
#pragma once

#include <future>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace hourglass::zmq {

class NameLookup {
 public:
  /// Between two lookups of a name whose host is not connected.
  static constexpr Duration kPause = std::chrono::seconds(4);
  struct Answer {
    std::string cause;                   ///< empty: it resolved
    std::vector<std::string> addresses;  ///< numeric
    /// The one to try after `tried`; the first where that is none of them or empty. There is one at least.
    [[nodiscard]] const std::string& after(const std::string& tried) const;
  };

  /// An earlier one is forgotten.
  void begin(const std::string& host, bool ipv6);
  [[nodiscard]] bool under_way() const { return answer_.valid(); }
  /// The answer, once it is there, and once only.
  std::optional<Answer> take(Duration patience = Duration::zero());

 private:
  std::future<Answer> answer_;
};

}  // namespace hourglass::zmq
