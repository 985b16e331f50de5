// SPDX-License-Identifier: Apache-2.0
#include "services/supervisor/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

namespace hourglass {
namespace {

constexpr std::size_t kTailBytes = 8192;
constexpr std::size_t kKeptLogBytes = 1U << 20;

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const auto& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

/// Between fork and exec: only async-signal-safe calls. Tells the parent by `report` why it failed.
[[noreturn]] void become(const char* executable, char* const* arguments, char* const* environment, int log, int death_signal, pid_t parent,
                         int report) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, death_signal);
  if (getppid() != parent) _exit(1);  // it died before the line above
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing >= 0 && dup2(nothing, 0) == 0 && dup2(log, 1) == 1 && dup2(log, 2) == 2) execve(executable, arguments, environment);
  const int cause = errno;
  [[maybe_unused]] const auto written = write(report, &cause, sizeof cause);
  _exit(127);
}

std::string read_tail(const std::string& path, std::size_t bytes, std::uint64_t begin) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return "";
  const auto size = static_cast<std::size_t>(file.tellg());
  const std::size_t from = std::max<std::size_t>(size > bytes ? size - bytes : 0, begin);
  if (from >= size) return "";
  std::string text(size - from, '\0');
  file.seekg(static_cast<std::streamoff>(from));
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

std::string_view meaning(int code) {
  switch (code) {
    case 1: return "failure";
    case 2: return "wrong usage";
    case 65: return "bad data";
    case 66: return "missing file or dataset";
    case 69: return "a peer or port is not available";
    case 74: return "disk or system error";
    case 75: return "try again later";
    case 76: return "protocol refused";
    case 78: return "wrong setting";
    default: return "";
  }
}

}  // namespace

std::string to_string(const Ending& ending) {
  if (ending.by_signal) return "signal " + std::to_string(ending.number) + " (" + strsignal(ending.number) + ")";
  const std::string_view words = meaning(ending.number);
  return "exit code " + std::to_string(ending.number) + (words.empty() ? std::string() : " (" + std::string(words) + ")");
}

Result<ChildProcess> ChildProcess::start(const ChildOptions& options) {
  const int log = open(options.log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (log < 0) return {Errc::io, options.log_file + ": " + std::strerror(errno)};
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) {
    const int cause = errno;
    close(log);
    return {Errc::io, std::string("cannot make a pipe: ") + std::strerror(cause)};
  }
  std::vector<std::string> arguments = {options.executable};
  arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
  const auto argument_pointers = pointers(arguments);
  const auto environment_pointers = pointers(options.environment);
  const pid_t parent = getpid();
  const pid_t id = fork();
  if (id == 0) {
    become(options.executable.c_str(), argument_pointers.data(), environment_pointers.data(), log, options.death_signal, parent, report[1]);
  }
  const int fork_error = errno;
  close(log);
  close(report[1]);
  int cause = id < 0 ? fork_error : 0;
  if (id > 0) {
    while (read(report[0], &cause, sizeof cause) < 0 && errno == EINTR) {
    }
  }
  close(report[0]);
  if (id > 0 && cause == 0) return ChildProcess(id);
  if (id > 0) waitpid(id, nullptr, 0);
  return {Errc::io, "cannot start " + options.executable + ": " + std::strerror(cause)};
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept : id_(std::exchange(other.id_, -1)), ending_(std::move(other.ending_)) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  if (this != &other) {
    end_now();
    id_ = std::exchange(other.id_, -1);
    ending_ = std::move(other.ending_);
  }
  return *this;
}

ChildProcess::~ChildProcess() { end_now(); }

void ChildProcess::end_now() {
  if (id_ <= 0 || ending_) return;
  kill(id_, SIGKILL);
  while (waitpid(id_, nullptr, 0) < 0 && errno == EINTR) {
  }
  id_ = -1;
}

const std::optional<Ending>& ChildProcess::poll() {
  if (!ending_ && id_ > 0) {
    int status = 0;
    if (waitpid(id_, &status, WNOHANG) == id_) {
      ending_ = WIFSIGNALED(status) ? Ending{true, WTERMSIG(status)} : Ending{false, WEXITSTATUS(status)};
    }
  }
  return ending_;
}

void ChildProcess::signal(int number) {
  if (id_ > 0 && !poll()) kill(id_, number);
}

std::uint64_t size_of(const std::string& path) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 ? static_cast<std::uint64_t>(facts.st_size) : 0;
}

std::vector<std::string> last_lines(const std::string& path, std::size_t lines_max, std::uint64_t from) {
  const std::string text = read_tail(path, kTailBytes, from);
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  if (lines.size() > lines_max) lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(lines_max));
  return lines;
}

void bound_log(const std::string& path, std::size_t bytes_max) {
  if (size_of(path) <= bytes_max) return;
  std::ofstream(path + ".1", std::ios::binary | std::ios::trunc) << read_tail(path, kKeptLogBytes, 0);
  // The child appends, so it goes on at the new end.
  [[maybe_unused]] const int done = truncate(path.c_str(), 0);
}

}  // namespace hourglass
