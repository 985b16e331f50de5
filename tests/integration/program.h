// SPDX-License-Identifier: Apache-2.0
// Runs the built program as people do.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "services/supervisor/child_process.h"

namespace hourglass::integration {

/// One running process with its standard output and standard error in files.
class Program {
 public:
  /// `environment`: beside PATH.
  Program(const std::string& executable, const std::vector<std::string>& arguments, const std::string& folder,
          const std::map<std::string, std::string>& environment = {});
  /// Waits for the end; kills it and fails after `seconds`.
  int wait(double seconds = 120);
  void signal(int number) { kill(id_, number); }
  [[nodiscard]] pid_t id() const { return id_; }
  [[nodiscard]] std::string output() const;
  [[nodiscard]] std::string errors() const;
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

 private:
  bool poll();
  std::string folder_;
  pid_t id_ = -1;
  bool ended_ = false;
  int status_ = 0;
};

constexpr std::uint64_t kEndless = 100'000'000;  ///< samples of a run that goes on until somebody stops it

std::string fresh_folder(const std::string& name);
/// Looks every 20 ms; false where it has not come true in time.
bool eventually(const std::function<bool()>& condition, double seconds = 60);
/// Processes whose parent is `parent` and whose command line has `word` as its first argument.
std::vector<pid_t> children(pid_t parent, const std::string& word = "");
/// Ports on which a process listens, from its socket inodes.
std::set<std::uint16_t> listening_ports(pid_t process);

/// Of a run folder: from its status, 0 before there is one; the log of a child, as "conv-worker-1".
std::uint64_t samples_done(const std::string& run);
/// Waits until the run has gone on by so many samples; false where it has not in `seconds`.
bool goes_on(const std::string& run, std::uint64_t samples, double seconds = 120);
std::string log_of(const std::string& run, const std::string& name);
std::size_t times(const std::string& text, const std::string& words);

}  // namespace hourglass::integration
