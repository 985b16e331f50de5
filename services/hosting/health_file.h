// SPDX-License-Identifier: Apache-2.0
// A small file that a role process renews while its loop turns; `hourglass healthcheck` reads it. It needs no port, shell or curl, so it
// works in a read-only container with a tmpfs at /tmp.
#pragma once

#include <string>

#include "base/result.h"
#include "services/options/settings.h"

namespace hourglass {

inline constexpr const char* kContainerHealthFile = "/tmp/hourglass.health";
inline constexpr double kHealthRenewSeconds = 1;
inline constexpr double kHealthStaleSeconds = 15;

/// Of `settings.health_file`: the path, or "" where there is to be none.
std::string health_path(const Settings& settings);

class HealthFile {
 public:
  /// `path` empty: does nothing.
  HealthFile(std::string path, std::string role) : path_(std::move(path)), role_(std::move(role)) {}
  ~HealthFile();
  HealthFile(const HealthFile&) = delete;
  HealthFile& operator=(const HealthFile&) = delete;
  /// From the loop itself, so that a loop that hangs lets the file grow old. Failures are ignored: health must not stop work.
  void renew(bool ready);

 private:
  std::string path_, role_;
};

/// Ok where the file is young, its process lives and is ready. Errors: unreachable, with the cause.
Status read_health(const std::string& path);

}  // namespace hourglass
