// SPDX-License-Identifier: Apache-2.0
#include "services/hosting/ports.h"

#include <dirent.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>

namespace hourglass {
namespace {

constexpr const char* kListening = "0A";  // TCP_LISTEN in /proc/net/tcp

std::set<std::string> listening_inodes(std::uint16_t port) {
  std::set<std::string> inodes;
  for (const char* path : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
      std::istringstream in(line);
      std::string slot, local, remote, state, queues, timer, retransmits, user, timeout, inode;
      in >> slot >> local >> remote >> state >> queues >> timer >> retransmits >> user >> timeout >> inode;
      const std::size_t colon = local.rfind(':');
      if (state != kListening || colon == std::string::npos) continue;
      if (std::strtoul(local.c_str() + colon + 1, nullptr, 16) == port) inodes.insert("socket:[" + inode + "]");
    }
  }
  return inodes;
}

bool holds(const std::string& process, const std::set<std::string>& inodes) {
  const std::string folder = "/proc/" + process + "/fd";
  const std::unique_ptr<DIR, int (*)(DIR*)> files(opendir(folder.c_str()), closedir);
  if (!files) return false;
  while (const dirent* entry = readdir(files.get())) {
    char target[64];
    const ssize_t length = readlink((folder + "/" + entry->d_name).c_str(), target, sizeof target);
    if (length > 0 && inodes.count(std::string(target, static_cast<std::size_t>(length))) != 0) return true;
  }
  return false;
}

std::string without_brackets(const std::string& host) {
  return host.size() > 2 && host.front() == '[' ? host.substr(1, host.size() - 2) : host;
}

struct AddressList {
  addrinfo* list = nullptr;
  ~AddressList() {
    if (list != nullptr) freeaddrinfo(list);
  }
};

}  // namespace

std::uint16_t port_of(const std::string& host_and_port) {
  unsigned port = 0;
  const char* begin = host_and_port.data() + host_and_port.rfind(':') + 1;
  std::from_chars(begin, host_and_port.data() + host_and_port.size(), port);
  return static_cast<std::uint16_t>(port);
}

std::string host_of(const std::string& host_and_port) { return host_and_port.substr(0, host_and_port.rfind(':')); }

std::string own_host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

std::string port_owner(std::uint16_t port) {
  const auto inodes = listening_inodes(port);
  if (inodes.empty()) return "";
  const std::unique_ptr<DIR, int (*)(DIR*)> processes(opendir("/proc"), closedir);
  if (!processes) return "";
  while (const dirent* entry = readdir(processes.get())) {
    const std::string process = entry->d_name;
    if (process.find_first_not_of("0123456789") != std::string::npos || !holds(process, inodes)) continue;
    std::ifstream file("/proc/" + process + "/comm");
    std::string name;
    std::getline(file, name);
    return "pid " + process + " (" + name + ")";
  }
  return "";
}

Status port_is_free(const std::string& address, std::uint16_t port) {
  const std::string host = without_brackets(address);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  AddressList found;
  const char* node = host == "*" || host.empty() ? nullptr : host.c_str();
  if (const int code = getaddrinfo(node, std::to_string(port).c_str(), &hints, &found.list); code != 0) {
    return {Errc::bad_config, "address " + address + ": " + gai_strerror(code)};
  }
  const int handle = socket(found.list->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (handle < 0) return {Errc::io, std::string("cannot make a socket: ") + std::strerror(errno)};
  const int on = 1;
  setsockopt(handle, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const bool bound = bind(handle, found.list->ai_addr, found.list->ai_addrlen) == 0 && listen(handle, 1) == 0;
  const int cause = errno;
  close(handle);
  if (bound) return {};
  const std::string owner = cause == EADDRINUSE ? port_owner(port) : "";
  return {Errc::unreachable, "port " + std::to_string(port) + " of " + address + ": " + std::strerror(cause) +
                                 (owner.empty() ? std::string() : ", held by " + owner)};
}

}  // namespace hourglass
