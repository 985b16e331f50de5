// SPDX-License-Identifier: Apache-2.0
#include "actors/conv_worker.h"

#include "services/command.h"
#include "services/hosting/role_process.h"

namespace hourglass {

ExitCode run_conv_worker(Invocation& invocation) {
  start_role_log(Role::conv_worker, invocation.settings());
  return run_role(Role::conv_worker, invocation.settings(), make_conv_worker);
}

}  // namespace hourglass
