// SPDX-License-Identifier: Apache-2.0
#include "actors/data_loader.h"

#include "services/command.h"
#include "services/hosting/dataset_files.h"
#include "services/hosting/role_process.h"

namespace hourglass {

ExitCode run_data_loader(Invocation& invocation) {
  const Settings& settings = invocation.settings();
  start_role_log(Role::data_loader, settings);
  return run_role(Role::data_loader, settings,
                  [&](ProcessIdentity identity) { return make_data_loader(dataset_files(settings.data_dir), std::move(identity)); });
}

}  // namespace hourglass
