// SPDX-License-Identifier: Apache-2.0
#include "runtime/zmq/process_gauges.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <limits>

namespace hourglass::zmq {
namespace {

double cpu_seconds() {
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) != 0) return 0.0;
  const auto as_seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6; };
  return as_seconds(usage.ru_utime) + as_seconds(usage.ru_stime);
}

double rss_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (!file) return 0.0;
  long size = 0, resident = 0;
  const int fields = std::fscanf(file, "%ld %ld", &size, &resident);
  std::fclose(file);
  return fields == 2 ? static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) : 0.0;
}

double open_files() {
  DIR* folder = ::opendir("/proc/self/fd");
  if (!folder) return errno == EMFILE ? open_files_max() : 0.0;
  int entries = 0;
  while (::readdir(folder)) ++entries;
  ::closedir(folder);
  return static_cast<double>(entries - 3);  // ".", ".." and the folder itself
}

}  // namespace

double open_files_max() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) return std::numeric_limits<double>::infinity();
  return static_cast<double>(files.rlim_cur);
}

void set_process_gauges(Metrics& metrics, Duration uptime) {
  metrics.gauge("cpu_seconds", cpu_seconds());
  metrics.gauge("rss_bytes", rss_bytes());
  metrics.gauge("open_files", open_files());
  metrics.gauge("uptime_seconds", seconds(uptime));
}

}  // namespace hourglass::zmq
