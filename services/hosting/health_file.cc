// SPDX-License-Identifier: Apache-2.0
#include "services/hosting/health_file.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>
#include <fstream>

#include "services/hosting/log.h"

namespace hourglass {

std::string health_path(const Settings& settings) {
  if (settings.health_file == "off" || settings.health_file.empty()) return "";
  if (settings.health_file != "auto") return settings.health_file;
  return in_container() ? kContainerHealthFile : "";
}

HealthFile::~HealthFile() {
  if (!path_.empty()) unlink(path_.c_str());
}

void HealthFile::renew(bool ready) {
  if (path_.empty()) return;
  const std::string part = path_ + ".part";
  {
    std::ofstream file(part, std::ios::trunc);
    file << role_ << ' ' << getpid() << ' ' << (ready ? "ready" : "starting") << '\n';
    if (!file.good()) return;
  }
  std::rename(part.c_str(), path_.c_str());
}

Status read_health(const std::string& path) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0) {
    return {Errc::unreachable, "no health file " + path + ": no role process runs here, or it was told --health-file off"};
  }
  std::ifstream file(path);
  std::string role, word;
  long process = 0;
  if (!(file >> role >> process >> word)) return {Errc::unreachable, "health file " + path + " cannot be read"};
  if (kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH) {
    return {Errc::unreachable, role + ", process " + std::to_string(process) + ", is gone"};
  }
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const double age =
      static_cast<double>(now.tv_sec - facts.st_mtim.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec - facts.st_mtim.tv_nsec);
  if (age > kHealthStaleSeconds)
    return {Errc::unreachable, role + " has not turned its loop for " + std::to_string(static_cast<long>(age)) + " s"};
  if (word != "ready") return {Errc::unreachable, role + " is alive but not ready yet"};
  return {};
}

}  // namespace hourglass
