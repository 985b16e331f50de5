// SPDX-License-Identifier: Apache-2.0
#include "runtime/zmq/file_storage.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace hourglass::zmq {
namespace {

constexpr std::string_view kTemporaryEnding = ".tmp";
constexpr std::size_t kNameBytesMax = 128;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] bool ok() const { return number_ >= 0; }

 private:
  int number_;
};

Error failure(std::string_view doing, const std::string& path, int code = errno) {
  return {Errc::io, std::string(doing) + " " + path + ": " + std::generic_category().message(code)};
}

bool allowed(std::string_view name) {
  const auto fine = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= kNameBytesMax && name.front() != '.' && std::ranges::all_of(name, fine);
}

Error not_allowed(std::string_view name) { return {Errc::io, "not a name for a file of the run folder: \"" + std::string(name) + "\""}; }

int open_file(const std::string& path, int flags) {
  int descriptor = -1;
  do {
    descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0644);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

/// False with errno set.
bool write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    if (written == 0) {
      errno = ENOSPC;
      return false;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

Result<std::unique_ptr<FileStorage>> FileStorage::open(const std::string& folder) {
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code) return failure("cannot make the folder", folder, code.value());
  for (auto entry = std::filesystem::directory_iterator(folder, code); !code && entry != std::filesystem::directory_iterator();
       entry.increment(code)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with('.') && name.ends_with(kTemporaryEnding)) ::unlink(entry->path().c_str());
  }
  if (code) return failure("cannot list", folder, code.value());
  if (::access(folder.c_str(), R_OK | W_OK | X_OK) != 0) return failure("cannot use the folder", folder);
  return std::unique_ptr<FileStorage>(new FileStorage(folder));
}

Status FileStorage::write(std::string_view name, std::span<const std::byte> bytes) {
  if (!allowed(name)) return not_allowed(name);
  const bool durable = !name.ends_with("status.json");
  const std::string target = path(name);
  const std::string temporary = path("." + std::string(name) + std::string(kTemporaryEnding));
  const auto give_up = [&temporary](Error error) {
    ::unlink(temporary.c_str());
    return error;
  };
  {
    const Descriptor file(open_file(temporary, O_WRONLY | O_CREAT | O_TRUNC));
    if (!file.ok()) return failure("cannot open", temporary);
    if (!write_all(file.get(), bytes)) return give_up(failure("cannot write", target));
    if (durable && ::fsync(file.get()) != 0) return give_up(failure("cannot sync", target));
  }
  if (::rename(temporary.c_str(), target.c_str()) != 0) return give_up(failure("cannot replace", target));
  if (durable) {
    const Descriptor folder(open_file(folder_, O_RDONLY | O_DIRECTORY));
    if (!folder.ok() || ::fsync(folder.get()) != 0) return failure("cannot sync the folder", folder_);
  }
  return {};
}

Status FileStorage::append(std::string_view name, std::span<const std::byte> bytes) {
  if (!allowed(name)) return not_allowed(name);
  const std::string target = path(name);
  const Descriptor file(open_file(target, O_WRONLY | O_CREAT | O_APPEND));
  if (!file.ok()) return failure("cannot open", target);
  struct stat before {};
  if (::fstat(file.get(), &before) != 0) return failure("cannot look at", target);
  if (!write_all(file.get(), bytes)) {
    Error error = failure("cannot add to", target);
    if (::ftruncate(file.get(), before.st_size) != 0) error.text += "; its last record is torn";
    return error;
  }
  if (!appended_.contains(name)) appended_.emplace(name);
  return {};
}

Result<Bytes> FileStorage::read(std::string_view name) {
  if (!allowed(name)) return not_allowed(name);
  const std::string target = path(name);
  const Descriptor file(open_file(target, O_RDONLY));
  if (!file.ok()) {
    if (errno == ENOENT) return Error{Errc::bad_data, "no such file: " + target};
    return failure("cannot open", target);
  }
  struct stat state {};
  if (::fstat(file.get(), &state) != 0) return failure("cannot look at", target);
  Bytes out(static_cast<std::size_t>(state.st_size));
  std::size_t filled = 0;
  while (filled < out.size()) {
    const ssize_t got = ::read(file.get(), out.data() + filled, out.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failure("cannot read", target);
    if (got == 0) break;  // it has become shorter meanwhile
    filled += static_cast<std::size_t>(got);
  }
  out.resize(filled);
  return out;
}

Result<std::vector<std::string>> FileStorage::list(std::string_view prefix) {
  std::vector<std::string> names;
  std::error_code code;
  for (auto entry = std::filesystem::directory_iterator(folder_, code); !code && entry != std::filesystem::directory_iterator();
       entry.increment(code)) {
    std::string name = entry->path().filename().string();
    if (name.starts_with(prefix) && allowed(name)) names.push_back(std::move(name));
  }
  if (code) return failure("cannot list", folder_, code.value());
  std::sort(names.begin(), names.end());
  return names;
}

Status FileStorage::remove(std::string_view name) {
  if (!allowed(name)) return not_allowed(name);
  if (::unlink(path(name).c_str()) != 0 && errno != ENOENT) return failure("cannot remove", path(name));
  return {};
}

Status FileStorage::sync_appended() {
  for (const std::string& name : std::exchange(appended_, {})) {
    const Descriptor file(open_file(path(name), O_WRONLY));
    if (!file.ok() && errno == ENOENT) continue;
    if (!file.ok() || ::fdatasync(file.get()) != 0) return failure("cannot sync", path(name));
  }
  return {};
}

}  // namespace hourglass::zmq
