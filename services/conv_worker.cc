// SPDX-License-Identifier: Apache-2.0
#include "actors/conv_worker.h"

#include "services/command.h"
#include "services/hosting/dataset_files.h"
#include "services/hosting/role_process.h"

namespace hourglass {

ExitCode run_conv_worker(Invocation& invocation) {
  const Settings& settings = invocation.settings();
  start_role_log(Role::conv_worker, settings);
  return run_role(Role::conv_worker, settings,
                  [&](ProcessIdentity identity) { return make_conv_worker(dataset_files(settings.data_dir), std::move(identity)); });
}

}  // namespace hourglass
