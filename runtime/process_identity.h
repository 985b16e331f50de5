// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace hourglass {

/// What a process says about itself when it joins; made once at process start by the service that hosts the actor.
struct ProcessIdentity {
  std::string build;              ///< "0.1.0 (1a2b3c4)"
  std::uint64_t incarnation = 0;  ///< random
  std::string name;               ///< host or container name
  std::string host;               ///< address that peers should use; empty: what the aggregator sees
  std::uint16_t port = 0;         ///< where it listens
  std::uint32_t process = 0;      ///< operating-system process id
};

}  // namespace hourglass
