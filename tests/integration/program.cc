// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/program.h"

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <nlohmann/json.hpp>

#include "services/hosting/text_file.h"

namespace hourglass::integration {
namespace {

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (auto& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace

Program::Program(const std::string& executable, const std::vector<std::string>& arguments, const std::string& folder,
                 const std::map<std::string, std::string>& environment)
    : folder_(folder) {
  std::vector<std::string> words = {executable};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = {"PATH=/usr/bin:/bin"};
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
  const auto word_pointers = pointers(words);
  const auto variable_pointers = pointers(variables);
  const std::string out = folder_ + "/stdout";
  const std::string err = folder_ + "/stderr";
  id_ = fork();
  if (id_ == 0) {
    const int out_file = open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    const int err_file = open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    dup2(out_file, 1);
    dup2(err_file, 2);
    if (chdir(folder_.c_str()) == 0) execve(executable.c_str(), word_pointers.data(), variable_pointers.data());
    _exit(127);
  }
}

Program::~Program() {
  if (poll()) return;
  kill(id_, SIGKILL);
  waitpid(id_, nullptr, 0);
}

bool Program::poll() {
  if (!ended_) ended_ = waitpid(id_, &status_, WNOHANG) == id_;
  return ended_;
}

int Program::wait(double seconds) {
  if (!eventually([this] { return poll(); }, seconds)) {
    ADD_FAILURE() << "still running after " << seconds << " s:\n" << errors();
    return -1;
  }
  return WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
}

std::string Program::output() const { return read_all(folder_ + "/stdout"); }
std::string Program::errors() const { return read_all(folder_ + "/stderr"); }

/// Folders of this process' tests; removed at its end where all of them passed.
class Folders {
 public:
  static void add(const std::filesystem::path& folder) {
    static Folders folders;
    folders.paths_.push_back(folder);
  }
  ~Folders() {
    if (!::testing::UnitTest::GetInstance()->Passed()) return;
    std::error_code ignored;
    for (const auto& path : paths_) std::filesystem::remove_all(path, ignored);
  }

 private:
  std::vector<std::filesystem::path> paths_;
};

std::string fresh_folder(const std::string& name) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / ("hourglass_" + name + "_" + std::to_string(getpid()));
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  Folders::add(folder);
  return folder.string();
}

bool eventually(const std::function<bool()>& condition, double seconds) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

std::vector<pid_t> children(pid_t parent, const std::string& word) {
  std::vector<pid_t> out;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string stat = read_all(entry.path() / "stat");
    const std::size_t bracket = stat.rfind(')');
    if (bracket == std::string::npos) continue;
    std::istringstream rest(stat.substr(bracket + 1));
    char state = 0;
    pid_t of = 0;
    rest >> state >> of;
    if (of != parent || state == 'Z') continue;
    const std::string line = read_all(entry.path() / "cmdline");
    const std::size_t first = line.find('\0');
    const std::string argument = first == std::string::npos ? "" : line.substr(first + 1, line.find('\0', first + 1) - first - 1);
    if (word.empty() || argument == word) out.push_back(static_cast<pid_t>(std::stol(name)));
  }
  return out;
}

std::set<std::uint16_t> listening_ports(pid_t process) {
  std::set<std::string> inodes;
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/fd", gone)) {
    const std::string link = std::filesystem::read_symlink(entry.path(), gone).string();
    if (link.starts_with("socket:[")) inodes.insert(link.substr(8, link.size() - 9));
  }
  std::set<std::uint16_t> ports;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream file(table);
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
      std::istringstream words(line);
      std::string slot, local, remote, state, queues, timer, retransmits, user, timeout, inode;
      words >> slot >> local >> remote >> state >> queues >> timer >> retransmits >> user >> timeout >> inode;
      if (state == "0A" && inodes.contains(inode))
        ports.insert(static_cast<std::uint16_t>(std::stoul(local.substr(local.rfind(':') + 1), nullptr, 16)));
    }
  }
  return ports;
}

std::uint64_t samples_done(const std::string& run) {
  const auto text = read_text(run + "/status.json");
  if (!text) return 0;
  const auto status = nlohmann::json::parse(*text, nullptr, false);
  return status.is_object() ? status.value("samples_done", std::uint64_t{0}) : 0;
}

bool goes_on(const std::string& run, std::uint64_t samples, double seconds) {
  const std::uint64_t before = samples_done(run);
  return eventually([&] { return samples_done(run) >= before + samples; }, seconds);
}

std::string log_of(const std::string& run, const std::string& name) { return read_all(run + "/logs/" + name + ".log"); }

std::size_t times(const std::string& text, const std::string& words) {
  std::size_t count = 0;
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++count;
  return count;
}

}  // namespace hourglass::integration
