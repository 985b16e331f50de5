// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "services/command.h"
#include "services/hosting/health_file.h"

namespace hourglass {

ExitCode run_healthcheck(Invocation& invocation) {
  const std::string path = health_path(invocation.settings());
  const Status health = read_health(path.empty() ? kContainerHealthFile : path);
  if (health.ok()) return ExitCode::ok;
  std::cerr << "hourglass: " << health.error().text << '\n';
  return ExitCode::failure;
}

}  // namespace hourglass
