// SPDX-License-Identifier: Apache-2.0
#include "actors/data_loader.h"

#include "services/command.h"
#include "services/hosting/role_process.h"

namespace hourglass {

ExitCode run_data_loader(Invocation& invocation) {
  const Settings& settings = invocation.settings();
  start_role_log(Role::data_loader, settings);
  const DatasetSource source = [folder = settings.data_dir](std::string_view name, data::Split split, std::uint64_t seed) {
    return data::load_dataset(name, folder, split, seed);
  };
  return run_role(Role::data_loader, settings, [&](ProcessIdentity identity) { return make_data_loader(source, std::move(identity)); });
}

}  // namespace hourglass
