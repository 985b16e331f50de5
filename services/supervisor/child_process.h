// SPDX-License-Identifier: Apache-2.0
// One child process of the supervisor. The supervisor is single-threaded: it forks.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace hourglass {

struct ChildOptions {
  std::string executable;
  std::vector<std::string> arguments;    ///< without the program's name
  std::vector<std::string> environment;  ///< "NAME=value"
  std::string log_file;                  ///< receives standard output and standard error, at its end
  int death_signal = SIGKILL;            ///< what the kernel sends when the supervisor dies, so that no orphan survives
};

struct Ending {
  bool by_signal = false;
  int number = 0;  ///< exit code or signal
  [[nodiscard]] bool clean() const { return !by_signal && number == 0; }
};
std::string to_string(const Ending& ending);  ///< "exit code 78 (wrong setting)", "signal 9 (Killed)"

class ChildProcess {
 public:
  /// Errors: io, with the cause; also where the executable cannot be run. The child is in a process group of its own: a terminal's Ctrl-C
  /// reaches the supervisor alone, which then decides the order of the stop.
  static Result<ChildProcess> start(const ChildOptions& options);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ~ChildProcess();  ///< kills and reaps what still runs

  [[nodiscard]] pid_t id() const { return id_; }
  /// How it ended; nothing while it runs.
  const std::optional<Ending>& poll();
  void signal(int number);

 private:
  explicit ChildProcess(pid_t id) : id_(id) {}
  void end_now();
  pid_t id_ = -1;
  std::optional<Ending> ending_;
};

/// The newest `lines_max` lines of a file, from its last 8 KiB and from byte `from` on.
std::vector<std::string> last_lines(const std::string& path, std::size_t lines_max, std::uint64_t from = 0);
std::uint64_t size_of(const std::string& path);  ///< 0 where there is none
/// Where the log is longer than `bytes_max`, keeps its last part in "<path>.1" and empties it.
void bound_log(const std::string& path, std::size_t bytes_max);

}  // namespace hourglass
