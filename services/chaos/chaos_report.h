// SPDX-License-Identifier: Apache-2.0
// What a run under chaos must show, and the figures that it gives.
#pragma once

#include <string>
#include <vector>

#include "services/chaos/tormentor.h"

namespace hourglass::chaos {

struct Check {
  std::string name;
  bool passed = false;
  std::string detail;
};

/// `result`: the object of `hourglass train --json`.
std::vector<Check> check_run(const std::string& result, const Tormentor& tormentor);

/// `result` with one more member, `chaos`: checks, strikes, recoveries by role and action, memory, restarts. One line.
std::string compose_report(const std::string& result, const Tormentor& tormentor, const std::vector<Check>& checks);

/// For people: recoveries, memory and checks, a line each.
std::vector<std::string> describe(const Tormentor& tormentor, const std::vector<Check>& checks);

}  // namespace hourglass::chaos
