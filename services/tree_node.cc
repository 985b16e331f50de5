// SPDX-License-Identifier: Apache-2.0
#include "actors/tree_node.h"

#include "services/command.h"
#include "services/hosting/role_process.h"

namespace hourglass {

ExitCode run_tree_node(Invocation& invocation) {
  start_role_log(Role::tree_node, invocation.settings());
  return run_role(Role::tree_node, invocation.settings(), make_tree_node);
}

}  // namespace hourglass
