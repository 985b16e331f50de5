// SPDX-License-Identifier: Apache-2.0
#include "actors/fc_worker.h"

#include "services/command.h"
#include "services/hosting/role_process.h"

namespace hourglass {

ExitCode run_fc_worker(Invocation& invocation) {
  start_role_log(Role::fc_worker, invocation.settings());
  return run_role(Role::fc_worker, invocation.settings(), make_fc_worker);
}

}  // namespace hourglass
