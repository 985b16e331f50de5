// SPDX-License-Identifier: Apache-2.0
#include "actors/monitor.h"

#include "services/command.h"
#include "services/dashboard/dashboard.h"
#include "services/hosting/log.h"
#include "services/hosting/ports.h"
#include "services/hosting/role_process.h"

namespace hourglass {

ExitCode run_monitor(Invocation& invocation) {
  Settings settings = invocation.settings();
  start_role_log(Role::monitor, settings);
  const auto port = static_cast<std::uint16_t>(settings.monitor_port);
  auto dashboard = Dashboard::start({settings.monitor_bind, port});
  if (!dashboard.ok()) {
    const std::string owner = dashboard.error().code == Errc::io && port != 0 ? port_owner(port) : "";
    log_line(Severity::error, "no dashboard",
             {{"setting", "monitor.port"}, {"port", std::to_string(port)}, {"held_by", owner}, {"cause", dashboard.error().text}});
    return dashboard.error().code == Errc::io ? ExitCode::unavailable : ExitCode::config;
  }
  // The port that people ask for is the page's.
  if (const Status told = write_port_file(settings.port_file, dashboard.value()->port()); !told.ok()) {
    log_line(Severity::error, told.error().text);
    return ExitCode::io;
  }
  settings.port_file.clear();
  log_line(Severity::info, "dashboard",
           {{"url", "http://" + settings.monitor_bind + ":" + std::to_string(dashboard.value()->port()) + "/"}});
  return run_role(Role::monitor, settings,
                  [&](ProcessIdentity identity) { return make_monitor(&dashboard.value()->sink(), std::move(identity)); });
}

}  // namespace hourglass
